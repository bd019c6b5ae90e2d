"""Tags the wheel for the platform of its program, which may differ from this machine's."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    """Sets the tag that pyproject.toml names."""

    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = self.config["tag"]
