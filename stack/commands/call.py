"""`feltro call`: calls a unary method of a running service, JSON in and JSON out, with any scope and subject."""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from importlib import resources
from typing import Any, cast

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from feltro.access.v1 import access_pb2
from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder
from stack.games import GAMES
from stack.issuer import SCOPES, DevelopmentIssuer
from stack.settings import LOOPBACK, StackSettings

CALL_TIMEOUT_S = 30.0


class CannotCall(RuntimeError):
    """The call cannot be made; the message says why."""


class DeclaredMethods:
    """Every method that the protos declare."""

    def __init__(self) -> None:
        declared = descriptor_pb2.FileDescriptorSet()
        declared.ParseFromString((resources.files("feltro") / "descriptors.binpb").read_bytes())
        pool = descriptor_pool.DescriptorPool()
        for file in declared.file:
            pool.Add(file)
        self.methods: list[MethodDescriptor] = [
            method
            for file in declared.file
            if file.package.startswith("feltro.")
            for service in pool.FindFileByName(file.name).services_by_name.values()
            for method in service.methods
        ]

    def method(self, name: str) -> MethodDescriptor:
        """Finds a method by its full name, `feltro.wallet.v1.WalletService/GetBalance`, or by the end of it."""
        wanted = name.strip("/").replace("/", ".")
        found = [method for method in self.methods if f".{method.full_name}".endswith(f".{wanted}")]
        if len(found) != 1:
            close = [method for method in self.methods if wanted.rpartition(".")[2].lower() in method.name.lower()]
            names = "".join(f"\n  {_path(method)}" for method in found or close or self.methods)
            raise CannotCall(f"{name} names {len(found)} methods. Say which:{names}")
        return found[0]


def command(argv: list[str]) -> int:
    """Calls a method of a running service."""
    parser = argparse.ArgumentParser(prog="feltro call", description="Call a method of the running platform.")
    parser.add_argument("method", help="such as feltro.wallet.v1.WalletService/GetBalance; the end of it is enough")
    parser.add_argument("request", nargs="?", default="{}", help="the request as JSON; a missing request_id is made up")
    parser.add_argument("--scope", choices=SCOPES, help="of the token; else one that the method asks for")
    parser.add_argument("--subject", default="developer", help="of the token: the player's id, or the game")
    games = [game.name for game in GAMES]
    parser.add_argument("--game", choices=games, help="whose service; else the one that method or request names")
    parser.add_argument("--address", help="of the service, HOST:PORT; else where `make run` has it")
    parser.add_argument("--field", help="print only this part of the answer, such as balance.account_id")
    chosen = parser.parse_args(argv)
    settings = load_or_exit(StackSettings)
    try:
        method = DeclaredMethods().method(chosen.method)
        request = _request(method, chosen.request)
        issuer = DevelopmentIssuer(DataFolder(settings.data).issuer)
        token = issuer.token([chosen.scope or _scope(method)], chosen.subject)
        answer = _call(chosen.address or _address(method, request, chosen.game, settings), method, request, token)
        print(_part(answer, chosen.field) if chosen.field else _json(answer))
    except grpc.RpcError as error:
        print(describe_refusal(error), file=sys.stderr)
        return 1
    except (CannotCall, RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def describe_refusal(error: grpc.RpcError) -> str:
    """A refused call as text: the code, the sentence, the reason and its facts."""
    # A blocking call raises itself; the types do not say so.
    call = cast("grpc.Call", error)
    lines = [f"{call.code().name}: {call.details()}"]
    status = rpc_status.from_call(call)
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            lines.append(f"  reason  {info.reason} ({info.domain})")
            lines += [f"  {name}  {value}" for name, value in sorted(info.metadata.items())]
    return "\n".join(lines)


def _call(address: str, method: MethodDescriptor, request: Message, token: str) -> Message:
    answer_class = message_factory.GetMessageClass(method.output_type)
    with grpc.insecure_channel(address) as channel:
        call: grpc.UnaryUnaryMultiCallable[Message, Message] = channel.unary_unary(
            f"/{_path(method)}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answer_class.FromString,
        )
        metadata = (("authorization", f"Bearer {token}"),)
        return call(request, timeout=CALL_TIMEOUT_S, metadata=metadata)


def _request(method: MethodDescriptor, text: str) -> Message:
    if method.client_streaming or method.server_streaming:
        raise CannotCall(f"{_path(method)} is a stream; only single calls are made here.")
    request = message_factory.GetMessageClass(method.input_type)()
    try:
        json_format.Parse(text, request, descriptor_pool=method.containing_service.file.pool)
    except json_format.ParseError as error:
        fields = ", ".join(field.name for field in method.input_type.fields)
        raise CannotCall(f"The request does not fit {method.input_type.full_name} ({fields}): {error}") from error
    if "request_id" in method.input_type.fields_by_name and not getattr(request, "request_id", ""):
        json_format.ParseDict({"request_id": str(uuid.uuid4())}, request)
    return request


def _address(method: MethodDescriptor, request: Message, game: str | None, settings: StackSettings) -> str:
    """The address of the service under `make run`."""
    package = method.full_name.split(".")[1]
    if package == "wallet":
        return f"{LOOPBACK}:{settings.wallet_port}"
    named = game or (package if package in settings.games else str(getattr(request, "game", "")))
    if named not in settings.games:
        raise CannotCall(f"Every game has {_path(method)}. Say whose with --game: {', '.join(settings.games)}.")
    return f"{LOOPBACK}:{settings.games[named].port}"


def _scope(method: MethodDescriptor) -> str:
    # Parsed with the generated class: a pool of our own does not know the option.
    options = descriptor_pb2.MethodOptions.FromString(method.GetOptions().SerializeToString())
    rule = options.Extensions[access_pb2.access]
    allowed = {access_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower() for scope in rule.scopes}
    return next((scope for scope in SCOPES if scope in allowed), SCOPES[0])


def _json(message: Message) -> str:
    pool: Any = message.DESCRIPTOR.file.pool
    return json_format.MessageToJson(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        ensure_ascii=False,
        # The pool of the message knows what an Any may hold.
        descriptor_pool=pool,
    )


def _part(answer: Message, field: str) -> str:
    found = json.loads(_json(answer))
    for name in field.split("."):
        if not isinstance(found, dict) or name not in found:
            raise CannotCall(f"The answer has no {field}: {json.dumps(found, ensure_ascii=False)}")
        found = found[name]
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _path(method: MethodDescriptor) -> str:
    service, _, name = method.full_name.rpartition(".")
    return f"{service}/{name}"
