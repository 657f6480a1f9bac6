/** The words of mails: how amounts, times and names of customers' things are written. */
import { centsText } from '../../../kernel/money.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS, topupPath } from '../../../spec/paths.ts';

/** A mail before it is laid out. Each paragraph is wrapped; a line that is a link never is. */
export interface Written {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

/** The panel's address, for links. */
export interface Panel {
  readonly baseUrl: string;
}

/** `USD 12.50` */
export function usd(cents: bigint): string {
  return `USD ${centsText(cents)}`;
}

/** `2026-03-01 12:30 UTC` */
export function utc(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `2026-03-01` */
export function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function months(count: number): string {
  return count === 1 ? '1 month' : `${count} months`;
}

export function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** What a customer wrote, as part of one line: no line ends, nothing invisible, not endless. */
export function said(text: string, maxChars = 63): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const chars = [...line];
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join('')}…`;
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The name behind an ISO 3166 code; `XX` and what is none are unknown. */
export function country(code: string): string {
  const name = /^[A-Z]{2}$/.test(code) && code !== 'XX' ? COUNTRIES.of(code) : undefined;
  return name ?? 'an unknown country';
}

export function link(panel: Panel, path: string): string {
  return panel.baseUrl + path;
}

/** What to top up when so much is missing, as words: never less than can be topped up. */
export function topupSum(missingCents: bigint): string {
  const least = missingCents < LIMITS.topupMinCents ? ' (the smallest top-up)' : '';
  return `${usd(topupCents(missingCents))} or more${least}`;
}

/** The top-up page with that sum filled in. */
export function topupLink(panel: Panel, missingCents: bigint): string {
  return link(panel, topupPath(centsText(topupCents(missingCents))));
}

function topupCents(missingCents: bigint): bigint {
  return missingCents < LIMITS.topupMinCents ? LIMITS.topupMinCents : missingCents;
}

export function accountLink(panel: Panel): string {
  return link(panel, PANEL_PATHS.account);
}

export function serversLink(panel: Panel): string {
  return link(panel, PANEL_PATHS.servers);
}
