"""Reads protobuf descriptors: the types of fields, and the files and comments of the platform's own protos."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module, resources
from typing import cast

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import Message

PACKAGE_PREFIX = "feltro."


def descriptor_of(message_class: type[Message]) -> Descriptor:
    """Returns the descriptor of a message class, typed as the one class that all implementations of protobuf share."""
    return cast("Descriptor", message_class.DESCRIPTOR)


def message_type(field: FieldDescriptor) -> Descriptor:
    """Returns the message type of a field that holds messages."""
    return cast("Descriptor", field.message_type)


def enum_type(field: FieldDescriptor) -> EnumDescriptor:
    """Returns the enum of a field that holds its values."""
    return cast("EnumDescriptor", field.enum_type)


def is_map(field: FieldDescriptor) -> bool:
    return field.type == FieldDescriptor.TYPE_MESSAGE and bool(message_type(field).GetOptions().map_entry)


def map_fields(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Returns the key field and the value field of a map."""
    entry = message_type(field)
    return entry.fields_by_name["key"], entry.fields_by_name["value"]


def read_declared_files() -> descriptor_pb2.FileDescriptorSet:
    """Reads all protos with their comments, as the build has written them."""
    declared = descriptor_pb2.FileDescriptorSet()
    declared.ParseFromString((resources.files("feltro") / "descriptors.binpb").read_bytes())
    return declared


def platform_files(declared: descriptor_pb2.FileDescriptorSet) -> Iterator[FileDescriptor]:
    """The platform's own files, without those of libraries."""
    pool = descriptor_pool.Default()
    for file in declared.file:
        if file.package.startswith(PACKAGE_PREFIX):
            # Importing registers the file's messages with the default pool, so that an Any can be read that holds one.
            import_module(file.name.removesuffix(".proto").replace("/", ".") + "_pb2")
            yield pool.FindFileByName(file.name)


def comments(declared: descriptor_pb2.FileDescriptorSet) -> Iterator[tuple[str, str]]:
    """Full names of the platform's own declarations, each with its comment."""
    for file in declared.file:
        if not file.package.startswith(PACKAGE_PREFIX):
            continue
        for location in file.source_code_info.location:
            comment = (location.leading_comments or location.trailing_comments).strip()
            name = _name_at(file, list(location.path))
            if comment and name:
                yield f"{file.package}.{name}", re.sub(r"\n ?", "\n", comment)


# A comment's path alternates field numbers of descriptor.proto and indexes: the fields that may be on it.
_STEPS = {
    "FileDescriptorProto": {
        4: ("message_type", "DescriptorProto"),
        5: ("enum_type", "EnumDescriptorProto"),
        6: ("service", "ServiceDescriptorProto"),
    },
    "DescriptorProto": {
        2: ("field", "FieldDescriptorProto"),
        3: ("nested_type", "DescriptorProto"),
        4: ("enum_type", "EnumDescriptorProto"),
        8: ("oneof_decl", "OneofDescriptorProto"),
    },
    "EnumDescriptorProto": {2: ("value", "EnumValueDescriptorProto")},
    "ServiceDescriptorProto": {2: ("method", "MethodDescriptorProto")},
}


def _name_at(file: descriptor_pb2.FileDescriptorProto, path: list[int]) -> str:
    """The name, below its package, of the declaration that a path leads to; empty for anything else."""
    kind, node, names = "FileDescriptorProto", file, list[str]()
    for number, index in zip(path[::2], path[1::2], strict=False):
        step = _STEPS.get(kind, {}).get(number)
        if step is None:
            return ""
        node = getattr(node, step[0])[index]
        kind = step[1]
        names.append(node.name)
    return ".".join(names) if names and len(path) % 2 == 0 else ""
