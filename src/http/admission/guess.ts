/** Who attempts what: the account and the device that a form's attempt counts against. */
import type { FastifyRequest } from 'fastify';
import type { Service } from '../../domain/context.ts';
import {
  type DeviceAccount,
  findKnownDevice,
  findTypedAccount,
  isSignedInAs,
  SIGNED_IN,
} from '../../domain/sessions/device.ts';
import type { Identity } from '../../domain/sessions/identify.ts';
import { clientAddress } from '../client-address.ts';
import { readDeviceCookie } from '../cookie.ts';
import { type Form, field } from '../form.ts';
import type { Edge } from '../settings.ts';
import type { Attempt, GuessedSecret, LimitedAttempt } from './limit-attempts.ts';

/** An operation's guess, where it differs from that of a password for the address in the field `email`. */
export interface Guess {
  readonly secret?: GuessedSecret;
  /** Whether the form has a secret to check. */
  readonly isMade?: (form: Form) => boolean;
  /** Finds the account that the form names in another way. */
  readonly findAccount?: (service: Service, form: Form) => Promise<DeviceAccount | undefined>;
}

interface Submission {
  readonly edge: Edge;
  readonly endpoint: { readonly protected: boolean };
  readonly row: { readonly limitedBy?: LimitedAttempt; readonly guess?: Guess };
  readonly identity: Identity;
  readonly request: FastifyRequest;
  readonly form: Form;
}

/** Returns the attempt that a form makes; null: it is not limited. */
export async function identifyAttempt(submission: Submission): Promise<Attempt | null> {
  const { row, request, form } = submission;
  const { limitedBy: kind, guess = {} } = row;
  if (kind === undefined || !(guess.isMade?.(form) ?? true)) return null;
  const { secret = 'password' } = guess;
  return { kind, secret, address: clientAddress(request), ...(await identifyDevice(submission)) };
}

/** A public endpoint identifies the account by the form, a protected one by the session. */
async function identifyDevice({ edge, endpoint, row, identity, request, form }: Submission) {
  const { session } = identity;
  if (endpoint.protected && session) return { account: session.email, device: SIGNED_IN };
  const typed = field(form, 'email');
  if (isSignedInAs(session, typed)) return { account: typed, device: SIGNED_IN };
  const known = await findKnownDevice(edge.service.keys, readDeviceCookie(request), () =>
    row.guess?.findAccount
      ? row.guess.findAccount(edge.service, form)
      : findTypedAccount(edge.service, typed),
  );
  return known ?? { account: typed, device: null };
}
