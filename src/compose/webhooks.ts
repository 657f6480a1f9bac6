import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { HttpsSender } from '../drivers/webhooks/https.ts';
import { OperatorError } from '../kernel/operator-error.ts';

/** Creates the webhook sender. Throws if the certificate file is unreadable: every receiver would fail. */
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
    // Reported below: a missing file has no certificates.
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new OperatorError(
    'SKERRY_WEBHOOK_CA_FILE: not a readable file of PEM certificates; fix the path, or unset it',
  );
}
