/** The service with a port for mail to tickets, and a mail server that hands over mails of customers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  answerTicket,
  listTicketsForStaff,
  readStaffTicket,
  type StaffTicket,
} from '../../src/domain/customers/tickets/desk.ts';
import { ticketAddress } from '../../src/domain/customers/tickets/mail/address.ts';
import { parseId } from '../../src/kernel/ids.ts';
import { LmtpClient } from './lmtp-client.ts';
import type { SessionClient } from './session-client.ts';
import { createApiToken, V1Client } from './v1-client.ts';
import { startWorld, type World } from './world.ts';

export const SUPPORT = 'support@skerry.example';
export const AUTH_SERVER = 'mail.skerry.example';

export interface Writer {
  readonly client: SessionClient;
  readonly email: string;
  readonly api: V1Client;
}

export interface MailOptions {
  readonly from: string;
  /** Replaces `dmarc=pass`; null: the mail server says nothing. */
  readonly auth?: string | null;
  readonly headers?: readonly string[];
  readonly messageId?: string;
  readonly subject?: string;
  readonly body?: string;
}

export interface TicketMailWorld extends World {
  /** A customer whose address is confirmed. */
  writer(): Promise<Writer>;
  /** The customer's tickets, newest first. */
  tickets(writer: Writer): Promise<StaffTicket[]>;
  /** The address that answers in the ticket name. */
  addressOf(ticket: string): string;
  /** Staff answer the ticket. */
  answer(ticket: string, text: string): Promise<void>;
  /** Hands over a mail, and returns the answer of each recipient. */
  deliver(mail: string | Buffer, to?: string | readonly string[], sender?: string): Promise<string[]>;
}

export async function startTicketMailWorld(
  settings: Readonly<Record<string, string>> = {},
): Promise<TicketMailWorld> {
  const world = await startWorld({
    ...{ SKERRY_TICKET_ADDRESS: SUPPORT, SKERRY_TICKET_AUTHSERV: AUTH_SERVER, SKERRY_LMTP_PORT: '0' },
    SKERRY_RATE_CAPACITY: '1000',
    ...settings,
  });
  const { service } = world.opened;
  const port = world.lmtpPort ?? assert.fail('mail has no port');
  return {
    ...world,
    writer: async () => {
      const client = await world.customer();
      await service.db.run('update customers set email_confirmed_at = now() where email = $1', [
        client.email,
      ]);
      return { client, email: client.email, api: V1Client.forUrl(world.url, await createApiToken(client)) };
    },
    tickets: async ({ email }) => {
      const { tickets } = await listTicketsForStaff(service, { customer: email, limit: 100 });
      return await Promise.all(tickets.map(({ id }) => readStaffTicket(service, id)));
    },
    addressOf: (ticket) =>
      ticketAddress(service, parseId('ticket', ticket) ?? '') ?? assert.fail('no address'),
    answer: async (ticket, text) => {
      await answerTicket(service, null, ticket, { text });
    },
    deliver: async (mail, to = SUPPORT, sender = 'bounces@example.org') => {
      const client = await LmtpClient.open(port);
      try {
        return await client.deliver(mail, [to].flat(), sender);
      } finally {
        client.close();
      }
    },
  };
}

/** A mail in plain text, as the operator's mail server passes it on. */
export function mailOf({ from, auth, headers = [], messageId, subject, body }: MailOptions): string {
  const domain = /@([^>]*)>?$/.exec(from)?.[1] ?? '';
  const result = auth === undefined ? `dmarc=pass (p=none) header.from=${domain}` : auth;
  return [
    ...(result === null ? [] : [`Authentication-Results: ${AUTH_SERVER}; ${result}`]),
    'Received: from mx.example.org by mail.skerry.example; Sun, 29 Nov 2026 10:00:00 +0000',
    `From: ${from}`,
    `To: ${SUPPORT}`,
    `Message-ID: ${messageId ?? `<${randomUUID()}@example.org>`}`,
    `Subject: ${subject ?? 'No route to web-1'}`,
    ...headers,
    '',
    body ?? 'Since noon.',
    '',
  ].join('\r\n');
}
