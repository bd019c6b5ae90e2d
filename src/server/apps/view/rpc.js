// JSON-RPC 2.0 with the host of the view, over postMessage. Knows no tool and no page.
//
// The scripts of the view become one inline script, so none of them may contain the tag that
// ends a script, and a name at the top level is visible to the files after it.

const Rpc = (() => {
  "use strict";

  const host = window.parent;
  /** The time after which a request counts as unanswered, in milliseconds: sending a message with
   * large attachments takes minutes. */
  const PATIENCE = 180_000;
  const METHOD_NOT_FOUND = -32601;
  const pending = new Map();
  const requests = new Map();
  const notifications = new Map();
  let last = 0;

  // The origin of the host is unknown in a sandboxed frame. The messages contain only what the host
  // sent, a time that the user chose, and the word of an approval, which the host passes on in any
  // case.
  const post = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");

  /** Returns the result of a request. Throws an `Error` with the host's message, or if no answer
   * arrives in time. */
  function request(method, params) {
    last += 1;
    const id = last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        pending.delete(id);
        reject(new Error("no answer"));
      }, PATIENCE);
      pending.set(id, { resolve, reject, timer });
      post({ id, method, params });
    });
  }

  const notify = (method, params) => post({ method, params });

  function settle({ id, result, error }) {
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    clearTimeout(waiting.timer);
    if (error) {
      waiting.reject(new Error(String(error.message ?? "error")));
    } else {
      waiting.resolve(result ?? {});
    }
  }

  function answer({ id, method, params }) {
    const handler = requests.get(method);
    if (handler) {
      post({ id, result: handler(params ?? {}) });
    } else {
      post({ id, error: { code: METHOD_NOT_FOUND, message: `method not found: ${method}` } });
    }
  }

  window.addEventListener("message", ({ source, data }) => {
    // Other frames of the page may post messages too.
    if (source !== host || data === null || typeof data !== "object" || data.jsonrpc !== "2.0") return;
    const isRequest = typeof data.method === "string";
    const hasId = typeof data.id === "number" || typeof data.id === "string";
    if (isRequest && hasId) {
      answer(data);
    } else if (isRequest) {
      notifications.get(data.method)?.(data.params ?? {});
    } else if (hasId) {
      settle(data);
    }
  });

  return {
    request,
    notify,
    onRequest: (method, handler) => requests.set(method, handler),
    onNotification: (method, handler) => notifications.set(method, handler),
  };
})();
