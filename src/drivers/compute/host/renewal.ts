/** The control plane's side of a renewal: asks a host for a request, and installs the issued certificate. */
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { Backend, ControlPlaneCredentials } from '../../../ports/backends.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { ask, openHostSession, UnknownCall } from './session.ts';
import { CALL_MAX_BYTES, PEM_MAX_CHARACTERS } from './wire.ts';

const STEP_TIMEOUT_MS = 5 * SECOND_MS;

const RequestAnswer = Compile(Type.Object({ request: Type.String({ maxLength: PEM_MAX_CHARACTERS }) }));

/**
 * Uses a connection of its own: only here may the host's latest certificate have expired. If it fails, the
 * host presents the former certificate or the new one, and both are accepted.
 */
export async function renewHostCertificate(
  backend: Backend,
  credentials: ControlPlaneCredentials,
  issue: (request: string) => Promise<string>,
): Promise<void> {
  const session = await openHostSession(backend, credentials, { mayBeExpired: true });
  const limits = { timeoutMs: STEP_TIMEOUT_MS, maxBytes: CALL_MAX_BYTES };
  try {
    const { authority } = credentials;
    const answer = await ask(session, '/v1/certificate/request', { authority }, limits);
    if (!RequestAnswer.Check(answer)) {
      throw new ComputeError('transient', `host ${backend.name} gave no valid answer`);
    }
    const certificate = await issue((answer as { readonly request: string }).request);
    await ask(session, '/v1/certificate/install', { certificate }, limits);
  } catch (error) {
    if (!(error instanceof UnknownCall)) throw error;
    throw new ComputeError(
      'refused',
      `its version gets no certificates: update Skerry on host ${backend.name}`,
    );
  } finally {
    session.destroy();
  }
}
