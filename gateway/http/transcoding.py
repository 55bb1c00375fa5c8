"""Builds the request message of a method from an HTTP request: path, query, body and Idempotency-Key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from urllib.parse import parse_qsl, unquote

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from gateway.contracts import json_codec
from gateway.contracts.bounds import REQUEST_ID_FIELD, REQUEST_ID_RULE, is_request_id
from gateway.contracts.descriptors import message_type
from gateway.contracts.json_reader import JsonMismatch, converter_of, reader_of
from gateway.contracts.json_types import WELL_KNOWN_TYPES
from gateway.contracts.methods import Binding, Method
from gateway.http.problems import invalid

IDEMPOTENCY_HEADER = "Idempotency-Key"
# Values in one query (G11).
PARAMETERS_LIMIT = 100
# How deep a parameter may reach into the request: `round.table.table_id`.
DEPTH_LIMIT = 5
# Messages that can be parameters, because their JSON is a string.
STRING_MESSAGES = frozenset({"google.protobuf.Timestamp", "google.protobuf.Duration"})

FieldPath = tuple[FieldDescriptor, ...]

_NOTHING: Collection[str] = ()


def field_path(descriptor: Descriptor, name: str) -> FieldPath:
    """Returns the fields that a dotted name leads through."""
    path: list[FieldDescriptor] = []
    for part in name.split("."):
        field = descriptor.fields_by_name[part]
        path.append(field)
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            descriptor = message_type(field)
    return tuple(path)


def dotted_name(path: FieldPath) -> str:
    return ".".join(field.name for field in path)


def query_parameters(method: Method, binding: Binding) -> dict[str, FieldPath]:
    """Returns a binding's query parameters: the fields that neither path nor body holds, messages by their fields."""
    if binding.body == "*":
        return {}
    bound = {*binding.variables, binding.body, REQUEST_ID_FIELD}
    return {
        dotted_name(path): path
        for path in _leaves(method.descriptor.input_type, ())
        # Nor a part of what path or body hold: a parameter would override it.
        if not any(dotted_name(path[:length]) in bound for length in range(1, len(path) + 1))
    }


def _leaves(descriptor: Descriptor, parents: FieldPath) -> Iterator[FieldPath]:
    for field in descriptor.fields:
        path = (*parents, field)
        inner = message_type(field) if field.type == FieldDescriptor.TYPE_MESSAGE else None
        if inner is None or inner.full_name in STRING_MESSAGES:
            yield path
        elif not field.is_repeated and len(path) < DEPTH_LIMIT and inner.full_name not in WELL_KNOWN_TYPES:
            yield from _leaves(inner, path)


class Transcoder:
    """Builds the requests of one binding of a method."""

    def __init__(self, method: Method, binding: Binding) -> None:
        self.method = method
        request = method.descriptor.input_type
        self._variables = [_TextField(field_path(request, name)) for name in binding.variables]
        parameters = query_parameters(method, binding)
        self._parameters = {name: _TextField(path) for name, path in parameters.items()}
        # As in a body, both spellings of a name are accepted.
        self._parameters |= {
            ".".join(field.json_name for field in path): self._parameters[name] for name, path in parameters.items()
        }
        self._body = binding.body
        body = None if binding.body in {"", "*"} else request.fields_by_name[binding.body]
        self._read_body = reader_of(request if body is None else message_type(body))

    @property
    def takes_body(self) -> bool:
        return bool(self._body)

    def build_request(self, values: Sequence[str], query: str, body: bytes, key: str | None) -> Message:
        """Builds the message; raises a `Problem` for what cannot be read."""
        message = self.method.request_class()
        stated = self._read_body_into(message, body) if self._body else _NOTHING
        if query:
            self._read_query_into(message, query)
        for variable, raw in zip(self._variables, values, strict=True):
            self._read_variable_into(message, variable, raw, stated)
        if self.method.has_request_id:
            _set_request_id(message, key)
        return message

    def _read_body_into(self, message: Message, body: bytes) -> Collection[str]:
        """Reads the body; returns the names that it gives a value, where it may also name what the path does."""
        if not body:
            # All fields may be left out; a field that is the whole body is left out by mistake.
            if self._body != "*":
                raise invalid("Send a JSON object as the body.", self._body)
            return _NOTHING
        try:
            value = json_codec.loads(body)
        except json_codec.RepeatedName as repeated:
            found_path = json_codec.repeated_path(repeated.marked) or ""
            path = found_path if self._body == "*" else f"{self._body}.{found_path}"
            raise invalid(f"`{path}` is given twice.", path) from None
        except json_codec.MalformedJson as error:
            raise invalid(f"The body is not JSON: {error}.") from None
        target = message if self._body == "*" else getattr(message, self._body)
        try:
            target.SetInParent()
            self._read_body(value, target)
        except JsonMismatch as mismatch:
            # Paths begin at the request, also where the body is one field of it.
            found = mismatch if self._body == "*" else mismatch.nested_under(self._body)
            sentence = str(found) if mismatch.path else f"The body {mismatch.sentence}"
            raise invalid(sentence, found.path) from None
        if self._body != "*" or not isinstance(value, dict):
            return _NOTHING
        return [name for name, given in value.items() if given is not None]

    def _read_query_into(self, message: Message, query: str) -> None:
        try:
            pairs = parse_qsl(
                query, keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS_LIMIT, separator="&"
            )
        except ValueError:
            raise invalid(f"The query is not UTF-8, or has more than {PARAMETERS_LIMIT} values.") from None
        given: set[_TextField] = set()
        for name, text in pairs:
            parameter = self._parameters.get(name)
            if parameter is None:
                raise invalid(f"`{name[:60]}` is no parameter of this call.", name[:60])
            if parameter in given and not parameter.repeated:
                raise invalid(f"`{parameter.name}` is given twice.", parameter.name)
            given.add(parameter)
            parameter.read_into(message, text)

    def _read_variable_into(self, message: Message, variable: _TextField, raw: str, stated: Collection[str]) -> None:
        try:
            text = unquote(raw, errors="strict")
        except UnicodeDecodeError:
            raise invalid("The path is not UTF-8.") from None
        before = variable.value(message)
        variable.read_into(message, text)
        # An empty text or a zero in the body says something else, too.
        is_stated = before != variable.field.default_value or variable.name in stated or variable.json_name in stated
        if is_stated and before != variable.value(message):
            raise invalid(f"`{variable.name}` says something else in the body than in the path.", variable.name)


class _TextField:
    """A field that is given as text: a path variable or a query parameter."""

    def __init__(self, path: FieldPath) -> None:
        self.name = dotted_name(path)
        self.json_name = ".".join(field.json_name for field in path)
        self.field = path[-1]
        self.repeated = self.field.is_repeated
        self._parents = [field.name for field in path[:-1]]
        self._read = None
        if self.field.type == FieldDescriptor.TYPE_MESSAGE:
            self._read = reader_of(message_type(self.field))
        else:
            self._convert = _from_text(self.field)

    def read_into(self, message: Message, text: str) -> None:
        target = self._target(message)
        try:
            if self._read is not None:
                inner = getattr(target, self.field.name)
                self._read(text, inner.add() if self.repeated else inner)
            elif self.repeated:
                getattr(target, self.field.name).append(self._convert(text))
            else:
                setattr(target, self.field.name, self._convert(text))
        except JsonMismatch as mismatch:
            raise invalid(str(mismatch.nested_under(self.name)), self.name) from None

    def value(self, message: Message) -> object:
        current: object = getattr(self._target(message), self.field.name)
        return current

    def _target(self, message: Message) -> Message:
        for name in self._parents:
            message = getattr(message, name)
        return message


def _from_text(field: FieldDescriptor) -> Callable[[str], object]:
    convert = converter_of(field)
    parse = _FROM_TEXT.get(field.type)
    return convert if parse is None else lambda text: convert(parse(text))


def _bool(text: str) -> object:
    return {"true": True, "false": False}.get(text, text)


def _float(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


_FROM_TEXT: dict[int, Callable[[str], object]] = {
    FieldDescriptor.TYPE_BOOL: _bool,
    FieldDescriptor.TYPE_DOUBLE: _float,
    FieldDescriptor.TYPE_FLOAT: _float,
}


def _set_request_id(message: Message, key: str | None) -> None:
    """Sets the request id, by which a command can be repeated and acts once (G3)."""
    in_body: str = getattr(message, REQUEST_ID_FIELD)
    if key is None:
        if not in_body:
            sentence = f"Name the command by a header `{IDEMPOTENCY_HEADER}`, so that it can be sent again safely."
            raise invalid(sentence, REQUEST_ID_FIELD)
        if not is_request_id(in_body):
            raise invalid(f"`{REQUEST_ID_FIELD}` {REQUEST_ID_RULE}", REQUEST_ID_FIELD)
        return
    if not is_request_id(key):
        raise invalid(f"`{IDEMPOTENCY_HEADER}` {REQUEST_ID_RULE}", REQUEST_ID_FIELD)
    if in_body not in {"", key}:
        raise invalid(
            f"`{IDEMPOTENCY_HEADER}` and `{REQUEST_ID_FIELD}` differ: they name the same thing.", REQUEST_ID_FIELD
        )
    setattr(message, REQUEST_ID_FIELD, key)
