class $title < Formula
  desc "MCP server for mail and calendars: Gmail and Outlook"
  homepage "$repository"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "$darwin_arm64_url"
      sha256 "$darwin_arm64_sha256"
    end
    on_intel do
      url "$darwin_x64_url"
      sha256 "$darwin_x64_sha256"
    end
  end

  on_linux do
    on_arm do
      url "$linux_arm64_url"
      sha256 "$linux_arm64_sha256"
    end
    on_intel do
      url "$linux_x64_url"
      sha256 "$linux_x64_sha256"
    end
  end

  def install
    bin.install "$name"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/$name"
    zsh_completion.install "completions/_$name"
    fish_completion.install "completions/$name.fish"
    doc.install "README.md", "THIRD-PARTY-LICENSES.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/$name --version")
    assert_match "mail_search", pipe_output("#{bin}/$name serve --sandbox",
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",' \
      '"capabilities":{},"clientInfo":{"name":"brew","version":"1"}}}' + "\n" \
      '{"jsonrpc":"2.0","method":"notifications/initialized"}' + "\n" \
      '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' + "\n")
  end
end
