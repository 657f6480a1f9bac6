/** Formats amounts, times, and customers' names for mail. */
import { formatCents } from '../../../kernel/money.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { MailData } from '../../../spec/mails/data.ts';
import type { MailKind } from '../../../spec/mails/kinds.ts';
import { PANEL_PATHS, topupPath } from '../../../spec/paths.ts';

/** A mail before layout. Paragraphs are wrapped, except lines that are links. */
export interface MailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Why the customer gets it, below the signature. Default: it is about a change to the account. */
  readonly why?: readonly string[];
  /** Where one POST turns such mails off. */
  readonly unsubscribeUrl?: string;
}

/** The panel's base URL, for links. */
export interface MailPanel {
  readonly baseUrl: string;
  /** Whether tickets get mail, and whether this mail is encrypted, which a reply to it is not. */
  readonly repliesByMail?: 'plain' | 'encrypted';
}

/** One template per kind of mail. */
export type MailTemplates = {
  readonly [Kind in MailKind]: (data: MailData[Kind], panel: MailPanel) => MailContent;
};

/** A mail after layout. */
export interface RenderedMail {
  readonly subject: string;
  /** Lines end in `\n`. */
  readonly text: string;
  readonly unsubscribeUrl?: string;
}

/** `$12.50`, or `-$12.50`. */
export function formatUsd(cents: bigint): string {
  return cents < 0n ? `-$${formatCents(-cents)}` : `$${formatCents(cents)}`;
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

export function formatNextMonths(count: number): string {
  return count === 1 ? 'the next month' : `the next ${count} months`;
}

/** `1 webhook`, `2 webhooks`. */
export function formatCount(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

export function formatDays(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** Makes a customer's text safe inside one line: no line breaks, no invisible characters, bounded length. */
export function sanitizeLine(text: string, maxChars = 63): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const chars = [...line];
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join('')}…`;
}

/** Makes a text of several lines safe: no invisible characters but line breaks. */
export function sanitizeText(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => (char === '\n' ? char : ' '));
}

/** The length to which a customer's URL is cut. */
export const URL_MAX_CHARS = 300;

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Returns the name of an ISO 3166 code. `XX` and invalid codes are unknown. */
export function countryName(code: string): string {
  const name = /^[A-Z]{2}$/.test(code) && code !== 'XX' ? COUNTRIES.of(code) : undefined;
  return name ?? 'an unknown country';
}

export function panelLink(panel: MailPanel, path: string): string {
  return panel.baseUrl + path;
}

/** Describes the top-up that covers a shortfall. Never less than the minimum top-up. */
export function describeTopup(shortfallCents: bigint): string {
  const smallestNote = shortfallCents < LIMITS.topupMinCents ? ' (the minimum top-up)' : '';
  return `${formatUsd(payableCents(shortfallCents))} or more${smallestNote}`;
}

/** Links to the top-up page with that amount filled in. */
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
