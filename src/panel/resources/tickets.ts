/** Support: the list of tickets with a form to open one, one ticket, and the form that attaches a file. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import {
  type ListedTicket,
  TICKET_STATUSES,
  type Ticket,
  type TicketStatus,
} from '../../spec/schemas/ticket.ts';
import { collapsibleForm, listFilterForm } from '../parts/compact-forms.ts';
import {
  buttonLink,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
  time,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { talk } from '../parts/talk.ts';

const WORDS: Readonly<Record<TicketStatus, Html>> = {
  open: statusBadge('waiting for us', 'busy'),
  answered: statusBadge('answered', 'good'),
  closed: statusBadge('closed'),
};
const NAMES: Readonly<Record<TicketStatus, string>> = {
  open: 'Waiting for us',
  answered: 'Answered',
  closed: 'Closed',
};

export function ticketsView(data: {
  readonly tickets: readonly ListedTicket[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const { filter, forms } = data;
  const rows = data.tickets.map((ticket) => [
    html`<a href="${resourcePath(PANEL_PATHS.support, ticket.id)}">${ticket.subject}</a>`,
    WORDS[ticket.status],
    time(ticket.updated_at),
  ]);
  const isFiltered = Object.keys(filter).length > 0;
  const none = isFiltered
    ? emptyState('No tickets.', 'Choose another status.')
    : emptyState('No tickets yet.', 'Ask us about your servers or your account.', sectionLink('Open ticket'));
  const list =
    rows.length > 0 ? table({ caption: 'Tickets', columns: ['Subject', 'Status', 'Changed'], rows }) : none;
  const choices = [['', 'All'] as const, ...TICKET_STATUSES.map((each) => [each, NAMES[each]] as const)];
  return {
    title: 'Support',
    section: 'support',
    header: { actions: sectionLink('Open ticket') },
    body: html`${
      (rows.length > 0 || isFiltered) &&
      listFilterForm(PANEL_PATHS.support, filter, (fields) =>
        fields.select('status', 'Status', { value: filter.status ?? '', choices }),
      )
    }
${list}
${pager(data)}
${section('Open ticket', createForm(forms))}`,
  };
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  return form(
    forms,
    { name: 'create' },
    html`${fields.text('subject', 'Subject', { required: true, maxLength: LIMITS.ticketSubjectMaxChars })}
${textField(fields, 'Message', 'You can attach files in the next step. Never send passwords.')}
<button>Open ticket</button>`,
  );
}

function textField(fields: Fields, label: string, hint?: string): Html {
  return fields.textarea('text', label, {
    required: true,
    rows: 8,
    maxLength: LIMITS.ticketTextMaxChars,
    ...(hint !== undefined && { hint }),
  });
}

interface TicketPage {
  readonly ticket: Ticket;
  readonly forms: FormContext;
}

function factsOf({ id, answer_by: answerBy, status }: Ticket): Html[] {
  const isAsked = answerBy !== null && status === 'answered';
  return [html`<code>${id}</code>`, ...(isAsked ? [html`Answer by ${time(answerBy)}`] : [])];
}

export function ticketView({ ticket, forms }: TicketPage): View {
  const path = resourcePath(PANEL_PATHS.support, ticket.id);
  const messages = ticket.messages.map((each) => ({
    ...each,
    author: each.author === 'customer' ? 'You' : 'Support',
  }));
  const isClosed = ticket.status === 'closed';
  const hint = isClosed ? 'This opens the ticket again.' : undefined;
  return {
    title: ticket.subject,
    section: 'support',
    breadcrumbs: [['Support', PANEL_PATHS.support]],
    header: { status: WORDS[ticket.status], facts: factsOf(ticket) },
    body: html`${talk(messages, (id) => `${path}/files/${id}`)}
${section(
  'Reply',
  html`${form(
    forms,
    { name: 'reply' },
    html`${textField(new Fields(forms, 'reply'), 'Message', hint)}
<button>Send reply</button>`,
  )}
<p>${buttonLink('Attach a file', `${path}/attach`, 'plain')}</p>`,
)}
${
  !isClosed &&
  section(
    'Close',
    collapsibleForm(forms, 'close', {
      summary: 'Close this ticket',
      description: 'You can open it again with a reply. We delete a closed ticket after a year.',
      content: html`<button>Close ticket</button>`,
    }),
  )
}`,
  };
}

export function attachView({ ticket, forms }: TicketPage): View {
  const fields = new Fields(forms, 'attach');
  const id = fields.id('file');
  const bad = fields.problem('file') !== null && ' bad';
  const maxKib = LIMITS.ticketFileMaxBytes / 1024;
  const hint = `A PNG or JPEG image, or a plain text file, of at most ${maxKib} KiB.`;
  return {
    title: 'Attach a file',
    section: 'support',
    breadcrumbs: [
      ['Support', PANEL_PATHS.support],
      [ticket.subject, resourcePath(PANEL_PATHS.support, ticket.id)],
    ],
    body: form(
      forms,
      { name: 'attach', multipart: true },
      html`${fields.text('name', 'Name', {
        maxLength: LIMITS.ticketFileNameMaxChars,
        hint: 'As we see it: screenshot.png. Optional.',
      })}
<div class="field${bad}"><label for="${id}">File</label>
<input type="file" id="${id}" name="file" required
accept="image/png,image/jpeg,text/plain"${fields.describedBy('file', hint)}>
${fields.notes('file', hint)}</div>
<button>Attach file</button>`,
    ),
  };
}
