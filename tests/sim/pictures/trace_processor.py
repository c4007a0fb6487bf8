"""Perfetto's trace processor, as its page has it: WebAssembly, in a worker of headless Chromium."""

import base64
import contextlib
import functools
import http.server
import threading

import browser
import text_format

START = """
const worker = new Worker('/engine_bundle.js'), channel = new MessageChannel(), done = arguments[0];
worker.onerror = (event) => done('it does not start: ' + event.message);
window.answers = [];
window.port = channel.port2;
channel.port2.onmessage = (event) => window.answers.push(event.data);
worker.postMessage(channel.port1, [channel.port1]);
done('');
"""
ASK = """
const done = arguments[1];
window.answers = [];
window.port.postMessage(Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0)));
(function look() {
  if (!window.answers.length) {
    setTimeout(look, 5);
    return;
  }
  let text = '';
  for (const byte of window.answers.shift()) {
    text += String.fromCharCode(byte);
  }
  done(btoa(text));
})();
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def escaped(data):
    return '"' + "".join(f"\\{byte:03o}" for byte in data) + '"'


class TraceProcessor:
    """Answers SQL about a trace."""

    def __init__(self, driver, trace):
        self.driver = driver
        self.sent = 0
        self.ask("TPM_APPEND_TRACE_DATA", "append_trace_data: " + escaped(trace))
        self.ask("TPM_FINALIZE_TRACE_DATA")

    def ask(self, method, words=""):
        text = f"msg {{ seq: {self.sent} request: {method} {words} }}"
        self.sent += 1
        message = ("TraceProcessorRpcStream", "trace_processor.proto")
        data = text_format.protoc("encode", *message, text.encode())
        reply = self.driver.execute_async_script(ASK, base64.b64encode(data).decode())
        answer = text_format.decode(base64.b64decode(reply), *message)["msg"][0]
        results = ("append_result", "finalize_data_result", "query_result")
        for part in (answer, *(part for name in results for part in answer.get(name, []))):
            for name in ("error", "fatal_error"):
                if part.get(name, [""])[0]:
                    raise AssertionError(part[name][0])
        return answer

    def rows(self, sql):
        """Of a query whose answer is one batch."""
        result = self.ask("TPM_QUERY_STREAMING", "query_args { sql_query: " +
                          escaped(sql.encode()) + " }")["query_result"][0]
        batch = result["batch"][0]
        if batch.get("is_last_batch") != ["true"]:
            raise AssertionError("more than one batch")
        values = {
            "CELL_NULL": iter([None] * len(batch.get("cells", []))),
            "CELL_VARINT": map(int, batch.get("varint_cells", [])),
            "CELL_FLOAT64": map(float, batch.get("float64_cells", [])),
            "CELL_STRING": iter(batch.get("string_cells", [""])[0].split("\0")),
        }
        cells = [next(values[kind]) for kind in batch.get("cells", [])]
        width = len(result["column_names"])
        return [tuple(cells[i : i + width]) for i in range(0, len(cells), width)]


@contextlib.contextmanager
def opened(folder):
    """A function from the bytes of a trace to its TraceProcessor. `folder` is what
    scripts/fetch-trace-processor got."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with browser.opened() as driver:

            def process(trace):
                driver.get(f"http://127.0.0.1:{server.server_port}/manifest.json")
                fault = driver.execute_async_script(START)
                if fault:
                    raise AssertionError(fault)
                return TraceProcessor(driver, trace)

            yield process
    finally:
        server.shutdown()
