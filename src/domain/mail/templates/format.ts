/** The words of mails: how amounts, times and names of customers' things are written. */
import { formatCents } from '../../../kernel/money.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS, topupPath } from '../../../spec/paths.ts';

/** A mail before it is laid out. Each paragraph is wrapped; a line that is a link never is. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

/** The panel's address, for links. */
export interface MailPanel {
  readonly baseUrl: string;
}

/** `USD 12.50` */
export function formatUsd(cents: bigint): string {
  return `USD ${formatCents(cents)}`;
}

/** `2026-03-01 12:30 UTC` */
export function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** `2026-03-01` */
export function formatDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}

export function formatMonths(count: number): string {
  return count === 1 ? '1 month' : `${count} months`;
}

export function formatDays(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** What a customer wrote, as part of one line: no line ends, nothing invisible, not endless. */
export function sanitizeLine(text: string, maxChars = 63): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const chars = [...line];
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join('')}…`;
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** The name behind an ISO 3166 code; `XX` and what is none are unknown. */
export function countryName(code: string): string {
  const name = /^[A-Z]{2}$/.test(code) && code !== 'XX' ? COUNTRIES.of(code) : undefined;
  return name ?? 'an unknown country';
}

export function panelLink(panel: MailPanel, path: string): string {
  return panel.baseUrl + path;
}

/** What to top up when so much is missing, as words: never less than can be topped up. */
export function describeTopup(shortfallCents: bigint): string {
  const smallestNote = shortfallCents < LIMITS.topupMinCents ? ' (the smallest top-up)' : '';
  return `${formatUsd(payableCents(shortfallCents))} or more${smallestNote}`;
}

/** The top-up page with that sum filled in. */
export function topupLink(panel: MailPanel, shortfallCents: bigint): string {
  return panelLink(panel, topupPath(formatCents(payableCents(shortfallCents))));
}

function payableCents(shortfallCents: bigint): bigint {
  return shortfallCents < LIMITS.topupMinCents ? LIMITS.topupMinCents : shortfallCents;
}

export function accountLink(panel: MailPanel): string {
  return panelLink(panel, PANEL_PATHS.account);
}

export function serversLink(panel: MailPanel): string {
  return panelLink(panel, PANEL_PATHS.servers);
}
