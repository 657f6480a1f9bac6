/**
 * Refuses to serve real customers with settings that are only for tests, or that leave them unprotected.
 * Other commands of `skerryd` run with them, so that the operator can look around and correct them.
 */
import type { Config } from '../config.ts';
import { isPrivateHost } from '../kernel/address-safety.ts';
import { OperatorError } from '../kernel/operator-error.ts';

type Limit = 'SKERRY_SIGNUPS_PER_HOUR' | 'SKERRY_SIGNIN_FAILURES_PER_HOUR' | 'SKERRY_TOKEN_FAILURES_PER_HOUR';
const LIMITS: readonly Limit[] = [
  'SKERRY_SIGNUPS_PER_HOUR',
  'SKERRY_SIGNIN_FAILURES_PER_HOUR',
  'SKERRY_TOKEN_FAILURES_PER_HOUR',
];

/** Fails with one line that names the setting. A sandbox may have all of them. */
export function requireLiveSafety(config: Config): void {
  if (config.SKERRY_MODE !== 'live') return;
  if (config.SKERRY_TRUSTED_PROXIES.trim() === '' && !isPrivateHost(config.SKERRY_HOST)) {
    throw new OperatorError(
      'SKERRY_HOST: passwords would cross the internet unencrypted; listen on 127.0.0.1 or a private ' +
        'address behind a reverse proxy with TLS, or name that proxy in SKERRY_TRUSTED_PROXIES',
    );
  }
  if (config.SKERRY_WEBHOOK_ALLOW_LOOPBACK) throw testOnly('SKERRY_WEBHOOK_ALLOW_LOOPBACK');
  if (config.SKERRY_WEBHOOK_CA_FILE !== null) throw testOnly('SKERRY_WEBHOOK_CA_FILE');
  for (const name of LIMITS) {
    if (config[name] > 0) continue;
    throw new OperatorError(`${name}: a live service needs a limit; set it to 1 or more, or unset it`);
  }
}

function testOnly(name: string): OperatorError {
  return new OperatorError(`${name}: only for tests in a sandbox; unset it for a live service`);
}
