/** Turns an error into the lines that the user sees. */
import { ApiError, type ErrorItem, SkerryError } from '@skerry/sdk';
import { CommanderError } from 'commander';
import { Failure } from './exit-codes.ts';

/** Lines for stderr; empty if commander has already printed the error. */
export function explain(error: unknown): string[] {
  if (error instanceof CommanderError) return [];
  // The user stopped the command on purpose.
  if (error instanceof Failure && error.message === '') return [];
  if (error instanceof ApiError) return explainApiError(error);
  if (error instanceof Failure || error instanceof SkerryError) return [`skerry: ${error.message}`];
  const message = error instanceof Error ? error.message : String(error);
  // An operating system error, such as a full disk, is not a bug in the CLI.
  const isSystem = error instanceof Error && 'syscall' in error;
  return [isSystem ? `skerry: ${message}` : `skerry: unexpected error, this is a bug in the CLI: ${message}`];
}

function explainApiError(error: ApiError): string[] {
  const details = error.errors.map(({ field, issue, ...rest }) => formatDetail(field, rest)).filter(Boolean);
  const request = error.requestId === null ? [] : [`  request ID: ${error.requestId}`];
  return [`skerry: ${error.message}`, ...details, ...hintsFor(error), ...request];
}

/** `  plan: have 1.00, need 5.00`; empty if the message already says everything. */
function formatDetail(field: string, details: Omit<ErrorItem, 'field' | 'issue'>): string {
  const words = Object.entries(details).map(
    ([name, value]) => `${name.replaceAll('_', ' ')} ${formatValue(name, value)}`,
  );
  return words.length > 0 ? `  ${field === '' ? '' : `${field}: `}${words.join(', ')}` : '';
}

const USD_FIELDS = new Set(['have', 'need', 'deficit']);

function formatValue(name: string, value: unknown): string {
  if (USD_FIELDS.has(name) && typeof value === 'number') return value.toFixed(2);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function hintsFor(error: ApiError): string[] {
  if (error.code === 'unauthenticated') return ['  To sign in again, run: skerry login'];
  if (error.code === 'forbidden_scope') return ['  To use a token with a wider scope, run: skerry login'];
  if (error.errors.some(({ issue }) => issue === 'insufficient_balance')) {
    return ['  To see the price, run: skerry quote. To pay, run: skerry topup'];
  }
  if (error.code === null) return ['  Check that the address is a Skerry host: skerry context show'];
  return [];
}
