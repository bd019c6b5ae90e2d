"""The npm partners that count tokens and read TOON, for whoever asks them (budgets.mjs)."""

import json
import os
import shutil
import subprocess

import interop


class Node:
    """The two npm partners, in one process that is asked line by line."""

    def __init__(self):
        node = shutil.which("node")
        if node is None:
            raise RuntimeError("node is not on PATH: run this part through tests/interop/run")
        # Node finds packages beside the script, so the script goes to them.
        packages = os.environ["INTEROP_PACKAGES"]
        script = shutil.copy(os.path.join(interop.HERE, "budgets.mjs"), packages)
        self.process = interop.track(subprocess.Popen(
            [node, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            encoding="utf-8", start_new_session=True,
        ))
        self.counted = {}

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the npm partners have ended")
        return json.loads(line)

    def tokens(self, texts, tokenizer):
        """The tokens of some texts, each counted alone."""
        for text in texts:
            if text not in self.counted:
                self.counted[text] = self.ask(text=text)
        return sum(self.counted[text][tokenizer] for text in texts)
