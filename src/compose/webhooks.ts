import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { HttpsSender } from '../drivers/webhooks/https.ts';
import { OperatorError } from '../kernel/operator-error.ts';

/** Who sends webhooks. A file of certificates that cannot be read ends start-up: every receiver would fail. */
export function createWebhookSender(config: Config): HttpsSender {
  const file = config.SKERRY_WEBHOOK_CA_FILE;
  return new HttpsSender({
    timeoutMs: config.SKERRY_WEBHOOK_TIMEOUT_MS,
    allowLoopback: config.SKERRY_WEBHOOK_ALLOW_LOOPBACK,
    ...(file === null ? {} : { ca: readCertificates(file) }),
  });
}

function readCertificates(file: string): string {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // Said below: a file that is not there holds none either.
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new OperatorError(
    'SKERRY_WEBHOOK_CA_FILE: there is no file of PEM certificates that can be read; unset it, or name one',
  );
}
