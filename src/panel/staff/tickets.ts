/** A ticket as staff see it. */
import { detailList, section, statusBadge, time } from '../parts/components.ts';
import type { FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { talk } from '../parts/talk.ts';
import { customerLink } from './customers.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import type { Tone } from './room.ts';
import { type RoomForm, roomForm } from './room-form.ts';

interface TicketFacts {
  readonly id: string;
  readonly subject: string;
  readonly status: string;
  readonly customer: string;
  readonly assignee: string | null;
  readonly answer_by: string | null;
  readonly abuse_report: string | null;
  readonly created_at: string;
  readonly closed_at: string | null;
  readonly messages: readonly {
    readonly id: string;
    readonly author: 'customer' | 'staff' | 'note';
    readonly staff: string | null;
    readonly text: string;
    readonly files: readonly { readonly id: string; readonly name: string; readonly size_bytes: number }[];
    readonly created_at: string;
  }[];
}

export const TICKET_TONES: Readonly<Record<string, Tone>> = { open: 'busy', answered: 'good', closed: 'off' };

const AUTHORS = { customer: 'Customer', staff: 'Answer', note: 'Note' } as const;

function reportLink(id: string): Html {
  return html`<a href="${CONSOLE_PATHS.abuse}/${encodeURIComponent(id)}">${id}</a>`;
}

export function staffTicketView(data: {
  readonly ticket: TicketFacts;
  readonly acts: readonly RoomForm[];
  readonly forms: FormContext;
}): ConsoleView {
  const { ticket, acts, forms } = data;
  const path = `${CONSOLE_PATHS.tickets}/${encodeURIComponent(ticket.id)}`;
  const messages = ticket.messages.map(({ author, staff, ...rest }) => ({
    ...rest,
    author: staff === null ? AUTHORS[author] : `${AUTHORS[author]} by ${staff}`,
    isNote: author === 'note',
  }));
  return {
    title: ticket.subject,
    section: 'tickets',
    breadcrumbs: [['Tickets', CONSOLE_PATHS.tickets]],
    status: statusBadge(ticket.status, TICKET_TONES[ticket.status]),
    body: html`${detailList([
      ['ID', html`<code class="copy" data-copy>${ticket.id}</code>`],
      ['Customer', customerLink(ticket.customer)],
      ['Assigned to', ticket.assignee ?? 'no one'],
      ['Abuse report', ticket.abuse_report && reportLink(ticket.abuse_report)],
      ['Answer asked by', ticket.answer_by && time(ticket.answer_by)],
      ['Opened', time(ticket.created_at)],
      ['Closed', ticket.closed_at && time(ticket.closed_at)],
    ])}
${talk(messages, (id) => `${path}/files/${id}`)}
${
  acts.length > 0 &&
  section(
    'Actions',
    acts.map((act) => roomForm(forms, act)),
  )
}`,
  };
}
