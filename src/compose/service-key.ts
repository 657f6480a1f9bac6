/** The service key from the settings: itself, or a command that prints it, such as a KMS or a TPM. */
import { spawnSync } from 'node:child_process';
import type { Config } from '../config.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const TIMEOUT_MS = 30_000;
const OUTPUT_MAX_BYTES = 64 * 1_024;

export interface ServiceKey {
  readonly list: string;
  /** The setting that it comes from, for messages. */
  readonly source: string;
}

/**
 * Returns null if the key file in the data folder is to be used. Fails if both settings are set, or the
 * command fails, takes too long, or prints nothing. No message contains its output.
 */
export function readServiceKey(
  config: Pick<Config, 'SKERRY_SECRET_KEY' | 'SKERRY_SECRET_KEY_COMMAND'>,
): ServiceKey | null {
  const { SKERRY_SECRET_KEY: list, SKERRY_SECRET_KEY_COMMAND: command } = config;
  if (list !== null && command !== null) {
    throw new OperatorError('set SKERRY_SECRET_KEY or SKERRY_SECRET_KEY_COMMAND, not both');
  }
  if (list !== null) return { list, source: 'SKERRY_SECRET_KEY' };
  return command === null ? null : { list: runCommand(command), source: 'SKERRY_SECRET_KEY_COMMAND' };
}

function runCommand(command: string): string {
  const { error, status, signal, stdout } = spawnSync('/bin/sh', ['-c', command], {
    ...{ encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // With too much output, the command may still end with 0.
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const failure = code ?? signal ?? (status === 0 ? null : `exit code ${status}`);
  if (failure !== null) throw new OperatorError(`SKERRY_SECRET_KEY_COMMAND failed: ${failure}`);
  const list = stdout.trim();
  if (list === '') throw new OperatorError('SKERRY_SECRET_KEY_COMMAND printed nothing');
  return list;
}
