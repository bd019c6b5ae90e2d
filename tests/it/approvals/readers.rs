//! Answers as each client hands them to its model: the notes, warnings, cursor and fence of an answer
//! reach every model, whether its client draws views or not.

use super::cards::draws;
use super::*;
use crate::support::ME;

/// A way of reading a result, as measured in November 2026 or read in the source of a client.
#[derive(Debug, Clone, Copy)]
enum ResultReader {
    /// `structuredContent` alone if there is one, or else the text: Claude Code, Codex, VS Code,
    /// Copilot CLI.
    StructuredFirst,
    /// The text of `content`: opencode, Gemini CLI, Zed, Goose.
    TextOnly,
    /// The whole result as JSON, `_meta` included: Cline.
    Everything,
}

impl ResultReader {
    const ALL: [Self; 3] = [Self::StructuredFirst, Self::TextOnly, Self::Everything];

    /// Returns the text that the model gets.
    fn read(self, result: &Value) -> String {
        let text = || {
            let blocks = result["content"].as_array().unwrap().iter();
            blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        };
        match self {
            Self::StructuredFirst => {
                let structured = result.get("structuredContent");
                structured.map_or_else(text, Value::to_string)
            }
            Self::TextOnly => text(),
            Self::Everything => result.to_string().replace("\\n", "\n").replace("\\\"", "\""),
        }
    }
}

#[tokio::test]
async fn every_part_of_an_answer_reaches_every_model() {
    let calls = [
        ("mail_search", json!({"limit": 1}), ["next: p", "messages["]),
        ("mail_read", json!({"ids": ["m1"]}), ["messages[1\t]", "<<<"]),
        ("mail_read", json!({"ids": ["m1", "m999"]}), ["there is no `m999`", "<<<"]),
        ("calendar_search", json!({"from": "2026-11-16", "limit": 1}), ["next: p", "events["]),
        ("calendar_free", json!({"duration": "1h"}), ["zone: ", "slots: "]),
        ("brief", json!({}), ["needs_me", "brief of "]),
        ("mail_draft", json!({"account": ME, "body": "Hi."}), ["draft: ", "nothing was sent"]),
        ("lookup", json!({"kind": "nothing"}), ["`kind`", "one of"]),
    ];
    for capabilities in [json!({}), draws()] {
        let mut approvals = Approvals::draw(&[], capabilities.clone()).await;
        for (tool, arguments, parts) in &calls {
            let params = json!({"name": tool, "arguments": arguments});
            let reply = approvals.request("tools/call", params).await;
            let result = &reply["result"];
            assert!(result.get("structuredContent").is_none(), "{tool}: {result}");
            assert!(result.get("_meta").is_none(), "{tool}: {result}");
            for reader in ResultReader::ALL {
                let text = reader.read(result);
                for part in parts {
                    let part = part.replace('\t', if text.contains("\\t") { "\\t" } else { "\t" });
                    assert!(text.contains(&part), "{reader:?}, {tool}, {part}: {text}");
                }
            }
        }
        let draft = approvals.senders.draft("zoe@example.org").await;
        let params = json!({"name": "mail_send", "arguments": {"id": draft}});
        let waiting = approvals.request("tools/call", params).await;
        let word = approvals.card(&draft).await["word"].clone();
        for reader in ResultReader::ALL {
            let text = reader.read(&waiting["result"]);
            assert!(text.contains("the user has to approve it before"), "{reader:?}: {text}");
            assert!(word.is_null() || !text.contains(word.as_str().unwrap()), "{text}");
        }
    }
}
