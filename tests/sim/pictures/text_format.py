"""Protobuf messages as `protoc` reads and writes them: Google's own, which shares no code with the
writer under test."""

import pathlib
import re
import subprocess

FOLDER = pathlib.Path(__file__).parent
FIELD = re.compile(r'([A-Za-z]\w*)(?:: (?:"((?:[^"\\]|\\.)*)"|(\S+))| (\{))')


def protoc(way, message, proto, data):
    """What `protoc` makes of `data`: of its bytes a text, or of its text the bytes."""
    done = subprocess.run(
        ["protoc", f"--proto_path={FOLDER}", f"--{way}=perfetto.{message}", proto],
        input=data,
        capture_output=True,
    )
    if done.returncode != 0:
        raise AssertionError(f"protoc --{way}: {done.stderr.decode()}")
    return done.stdout


def decode(data, message="Trace", proto="perfetto.proto"):
    """A message is a dictionary of lists of values, by the field's name. A field that `proto` does
    not name fails."""
    top = {}
    open_messages = [top]
    for line in protoc("decode", message, proto, data).decode().splitlines():
        line = line.strip()
        if line == "}":
            open_messages.pop()
            continue
        field = FIELD.fullmatch(line)
        if field is None:
            raise AssertionError(f"{proto} does not name this field: {line}")
        name, quoted, plain, brace = field.groups()
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
