/**
 * The addresses of tickets: `support@host` opens one, and `support+t<id>-<mac>@host` writes in one. The MAC
 * is made with the service key, so that an address cannot be guessed from the id.
 */
import { base32, formatId, ID_PREFIXES, parseId } from '../../../../kernel/ids.ts';
import { timingSafeEqualText } from '../../../../kernel/secrets.ts';
import type { Service } from '../../../context.ts';

type Deps = Pick<Service, 'keys' | 'settings'>;

const PURPOSE = 'ticket mail address';
/** 80 bits: 16 letters. */
const MAC_BYTES = 10;
const TICKET = /^t([a-z2-7]{26})-([a-z2-7]{16})$/;

/** Where a mail goes: a new ticket, or the ticket with this id. */
export type TicketRecipient = { readonly ticketId: string | null };

/** The address at which a ticket gets mail; null if tickets get none. */
export function ticketAddress({ keys, settings }: Deps, ticketId: string): string | null {
  const address = settings.ticketMail?.address;
  if (address === undefined) return null;
  const at = address.lastIndexOf('@');
  const shown = formatId('ticket', ticketId).slice(ID_PREFIXES.ticket.length);
  return `${address.slice(0, at)}+t${shown}-${macOf(keys, ticketId, keys.newestId)}${address.slice(at)}`;
}

/** Undefined: the address is not ours, or its MAC is wrong. Mail servers may change the case. */
export function readRecipient({ keys, settings }: Deps, recipient: string): TicketRecipient | undefined {
  const address = settings.ticketMail?.address.toLowerCase();
  const wanted = recipient.trim().toLowerCase();
  if (address === undefined) return undefined;
  if (wanted === address) return { ticketId: null };
  const at = address.lastIndexOf('@');
  const [start, end] = [`${address.slice(0, at)}+`, address.slice(at)];
  if (!wanted.startsWith(start) || !wanted.endsWith(end)) return undefined;
  const [, shown = '', mac = ''] = TICKET.exec(wanted.slice(start.length, -end.length)) ?? [];
  const ticketId = parseId('ticket', `${ID_PREFIXES.ticket}${shown}`);
  if (ticketId === undefined) return undefined;
  const isOurs = keys.ids.some((keyId) => timingSafeEqualText(mac, macOf(keys, ticketId, keyId)));
  return isOurs ? { ticketId } : undefined;
}

function macOf(keys: Deps['keys'], ticketId: string, keyId: string): string {
  return base32(keys.hmac(PURPOSE, ticketId, keyId).subarray(0, MAC_BYTES));
}
