/** Errors as the engine understands them. */
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { ApiError, SkerryError } from '@skerry/sdk';
import { Details } from './protocol.ts';
import { toStruct, type Values } from './values.ts';

/** A mistake of the program or its configuration. */
export class Failure extends Error {}

/** The resource exists, but did not reach its state. The engine keeps it, and updates it the next time. */
export class InitFailed extends Error {
  readonly id: string;
  readonly state: Values;

  constructor(id: string, state: Values, cause: unknown) {
    super(messageOf(cause), { cause });
    this.id = id;
    this.state = state;
  }
}

const INIT_FAILED = 'type.googleapis.com/pulumirpc.ErrorResourceInitFailed';

const CODES: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.FAILED_PRECONDITION,
  422: status.INVALID_ARGUMENT,
};

/** `inputs` are those of the call, for a resource that exists already. */
export function toServiceError(error: unknown, inputs: Values): ServiceError {
  const message = messageOf(error);
  const code = codeOf(error);
  const metadata = new Metadata();
  if (error instanceof InitFailed) {
    const { id, state } = error;
    const detail = { id, properties: toStruct(state), reasons: [message], inputs: toStruct(inputs) };
    const { Status } = Details.service;
    if (!Status) throw new Error('the protocol has no details');
    const value = Status.responseSerialize(detail);
    const encoded = Status.requestSerialize({ code, message, details: [{ type_url: INIT_FAILED, value }] });
    metadata.set('grpc-status-details-bin', encoded);
  }
  return Object.assign(new Error(message), { code, details: message, metadata, name: 'ServiceError' });
}

function codeOf(error: unknown): status {
  if (error instanceof Failure) return status.INVALID_ARGUMENT;
  // Not UNAVAILABLE: to the engine, it means that the provider itself is gone.
  return (error instanceof ApiError ? CODES[error.status] : undefined) ?? status.UNKNOWN;
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.requestId !== null) return `${error.message} (${error.requestId})`;
  if (error instanceof SkerryError || error instanceof Error) return error.message;
  return String(error);
}
