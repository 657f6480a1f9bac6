/** Tickets: conversations of a customer with the people who run the service. */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { Id, nullable, oneOf, Time } from './parts.ts';

export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];

/** The subjects that tickets are about. */
export const TICKET_CATEGORIES = ['general', 'abuse'] as const;
export type TicketCategory = (typeof TICKET_CATEGORIES)[number];

/** Recognized by their content. */
export const TICKET_UPLOAD_TYPES = ['image/png', 'image/jpeg', 'text/plain'] as const;
/** The further ones are files of an abuse report that staff share. */
export const TICKET_FILE_TYPES = [
  ...TICKET_UPLOAD_TYPES,
  ...(['application/pdf', 'message/rfc822', 'application/vnd.tcpdump.pcap'] as const),
] as const;
export type TicketFileType = (typeof TICKET_FILE_TYPES)[number];

const STATUS = oneOf(TICKET_STATUSES, {
  description: '`open`: we answer next. `answered`: we answered. `closed`: a reply opens it again.',
});

const Shown = {
  id: Id('tkt_'),
  object: Type.Literal('ticket'),
  subject: Type.String(),
  status: STATUS,
  category: oneOf(TICKET_CATEGORIES, {
    description: '`abuse`: we opened it, because of a report of abuse about one of your servers.',
  }),
  answer_by: nullable(
    Type.String({ format: 'date-time', description: 'By when we ask you to answer; null: any time.' }),
  ),
  created_at: Time,
  updated_at: Time,
  closed_at: nullable(Type.String({ format: 'date-time' })),
};

/** A ticket in a list. */
export const ListedTicket = Type.Object(Shown);
export type ListedTicket = Static<typeof ListedTicket>;

export const TicketFile = Type.Object({
  id: Id('tfl_'),
  name: Type.String(),
  type: oneOf(TICKET_FILE_TYPES),
  size_bytes: Type.Integer(),
});

export const TicketMessage = Type.Object({
  id: Id('tme_'),
  author: oneOf(['customer', 'staff'] as const),
  text: Type.String({ description: 'Plain text.' }),
  files: Type.Array(TicketFile, { description: 'Download them in the panel, where you also attach yours.' }),
  created_at: Time,
});
export type TicketMessage = Static<typeof TicketMessage>;

export const Ticket = Type.Object({
  ...Shown,
  messages: Type.Array(TicketMessage, { description: 'Oldest first.' }),
});
export type Ticket = Static<typeof Ticket>;

const TEXT = Type.String({
  minLength: 1,
  maxLength: LIMITS.ticketTextMaxChars,
  description: 'Plain text.',
});

export const CreateTicket = Type.Object(
  { subject: Type.String({ minLength: 1, maxLength: LIMITS.ticketSubjectMaxChars }), text: TEXT },
  { additionalProperties: false },
);
export type CreateTicket = Static<typeof CreateTicket>;

export const ReplyToTicket = Type.Object({ text: TEXT }, { additionalProperties: false });
export type ReplyToTicket = Static<typeof ReplyToTicket>;
