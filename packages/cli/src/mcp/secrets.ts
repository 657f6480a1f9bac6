/**
 * Secrets in responses: passwords, signing secrets, and console URLs. They go to a file that only its owner
 * can read, because the result of a tool reaches the model, its provider, and the logs of the client.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configPath, type Env } from '../config/config.ts';
import { Failure } from '../exit-codes.ts';
import { randomName } from './confirm.ts';

const SECRET_FIELDS = /^(?:password|secret|token|passphrase|private_key)$/;

/** The URL of a console is a secret: it admits its bearer. */
function isSecret(parent: object, field: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return (
    SECRET_FIELDS.test(field) || ((parent as { object?: unknown }).object === 'console' && field === 'url')
  );
}

export function withoutSecrets(env: Env, tool: string, response: object): object {
  const found: Record<string, string> = {};
  const redacted = redact(response, '', found);
  if (Object.keys(found).length === 0) return response;
  const path = join(dirname(configPath(env)), 'mcp', `${tool}-${randomName()}.json`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify(found, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new Failure('failed', `done, but the secret of the response is lost: ${(error as Error).message}`);
  }
  return { ...(redacted as object), secrets_file: path };
}

function redact(value: unknown, path: string, found: Record<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one, at) => redact(one, `${path}${at}.`, found));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([field, one]) => {
    if (!isSecret(value, field, one)) return [field, redact(one, `${path}${field}.`, found)];
    found[`${path}${field}`] = one as string;
    return [field, '(in secrets_file)'];
  });
  return Object.fromEntries(entries);
}
