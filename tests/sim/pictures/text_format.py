"""Protobuf messages as `protoc --decode` prints them: Google's reader, which shares no code with
the writer under test."""

import pathlib
import re
import subprocess

PROTO = pathlib.Path(__file__).with_name("perfetto.proto")
FIELD = re.compile(r'(\w+)(?:: (?:"((?:[^"\\]|\\.)*)"|(\S+))| (\{))')


def decode(path):
    """The trace at `path`: a message is a dictionary of lists of values, by the field's name."""
    text = subprocess.run(
        ["protoc", f"--proto_path={PROTO.parent}", "--decode=perfetto.Trace", PROTO.name],
        input=pathlib.Path(path).read_bytes(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    top = {}
    open_messages = [top]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
            continue
        name, quoted, plain, brace = FIELD.fullmatch(line).groups()
        if brace:
            value = {}
        elif quoted is not None:
            value = quoted.encode().decode("unicode_escape").encode("latin-1").decode()
        else:
            value = plain
        open_messages[-1].setdefault(name, []).append(value)
        if brace:
            open_messages.append(value)
    return top
