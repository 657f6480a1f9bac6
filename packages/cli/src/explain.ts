/** What went wrong, for the person who typed the command. */
import { ApiError, type ErrorItem, SkerryError } from '@skerry/sdk';
import { CommanderError } from 'commander';
import { Failure } from './exit-codes.ts';

/** Lines for stderr; none where commander has said it already. */
export function explain(error: unknown): string[] {
  if (error instanceof CommanderError) return [];
  // What was ended on purpose needs no words.
  if (error instanceof Failure && error.message === '') return [];
  if (error instanceof ApiError) return explainApiError(error);
  if (error instanceof Failure || error instanceof SkerryError) return [`skerry: ${error.message}`];
  const message = error instanceof Error ? error.message : String(error);
  // Of the operating system, a full disk say; all else is our own fault.
  const isSystem = error instanceof Error && 'syscall' in error;
  return [isSystem ? `skerry: ${message}` : `skerry: a fault of this command, not of yours: ${message}`];
}

function explainApiError(error: ApiError): string[] {
  const details = error.errors
    .map(({ field, issue, ...beside }) => formatDetail(field, beside))
    .filter(Boolean);
  const request = error.requestId === null ? [] : [`  request ${error.requestId}`];
  return [`skerry: ${error.message}`, ...details, ...hintsFor(error), ...request];
}

/** `  plan: have 1.00, need 5.00`; nothing where the message has said it all. */
function formatDetail(field: string, beside: Omit<ErrorItem, 'field' | 'issue'>): string {
  const words = Object.entries(beside).map(
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
  if (error.code === 'unauthenticated') return ['  sign in anew: skerry login'];
  if (error.code === 'forbidden_scope') return ['  a token with a wider scope: skerry login'];
  if (error.errors.some(({ issue }) => issue === 'insufficient_balance')) {
    return ['  what it costs and what is missing: skerry quote; to pay: skerry topup'];
  }
  if (error.code === null) return ['  is the address that of a Skerry host? See skerry context show'];
  return [];
}
