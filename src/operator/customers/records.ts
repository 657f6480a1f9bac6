/** Notes, tags, and limits of a customer's own. */
import { type Command, InvalidArgumentError } from 'commander';
import { readLimitsForOperator, setLimitsByOperator } from '../../domain/customers/own-limits.ts';
import { addNote, readNotes, removeNote, setTags } from '../../domain/customers/staff/notes.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import type { OwnLimitName } from '../../spec/limits.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount } from '../format/table.ts';

const NAME_HELP = 'Email address, or cus_…';

export function addCustomerRecords(customers: Command, context: OperatorContext): void {
  addNotes(customers, context);
  addTags(customers, context);
  addLimits(customers, context);
}

function addNotes(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('notes')
    .argument('<email>', NAME_HELP)
    .description('List the notes of staff on a customer, newest first')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const notes = await readNotes(service, email);
      const rows = notes.map((note) => [
        note.id,
        note.created_at.slice(0, 16).replace('T', ' '),
        note.author ?? '',
        note.text.replace(/\s+/g, ' '),
      ]);
      terminal.table(['note', 'written (UTC)', 'by', 'text'], rows);
      terminal.document(notes);
    });
  customers
    .command('add-note')
    .argument('<email>', NAME_HELP)
    .argument('<text>')
    .description('Add a note on a customer, which only staff see')
    .action(async (email: string, text: string) => {
      const { service } = await resources.service();
      const target = { kind: 'customer', name: email } as const;
      const id = await recordCommandOn(service, 'customers.add_note', target, () =>
        addNote(service, email, { text, staffId: null }),
      );
      terminal.out(id);
    });
  customers
    .command('delete-note')
    .argument('<email>', NAME_HELP)
    .argument('<note>', 'Id of the note, cnt_…')
    .description('Delete a note on a customer')
    .action(async (email: string, note: string) => {
      const { service } = await resources.service();
      const target = { kind: 'customer', name: email } as const;
      await recordCommandOn(service, 'customers.delete_note', target, () => removeNote(service, email, note));
      terminal.out('the note is deleted');
    });
}

function addTags(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('set-tags')
    .argument('<email>', NAME_HELP)
    .argument('[tags...]', 'All tags of the customer; without any, the customer has none')
    .description('Replace the tags of a customer, which only staff see')
    .action(async (email: string, tags: readonly string[]) => {
      const { service } = await resources.service();
      const target = { kind: 'customer', name: email } as const;
      const set = await recordCommandOn(service, 'customers.set_tags', target, () =>
        setTags(service, email, tags),
      );
      terminal.out(set.length === 0 ? 'no tags' : set.join(' '));
    });
}

function addLimits(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('limits')
    .argument('<email>', NAME_HELP)
    .description('List the limits of a customer')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const limits = await readLimitsForOperator(service, email);
      const rows = limits.map((row) => [
        row.name,
        String(row.limit),
        row.own === null ? '' : String(row.own),
        String(row.service),
      ]);
      terminal.table(['limit', 'applies', 'own', 'service'], rows);
      terminal.document(limits);
    });
  customers
    .command('set-limits')
    .argument('<email>', NAME_HELP)
    .option('--limit <name=count>', 'A limit of this customer; repeat it for others', parseLimit, {})
    .option('--reason <text>', 'For the staff log')
    .description('Replace the limits of a customer’s own; without any, those of the service apply')
    .action(async (email: string, options: { limit: OwnLimitValues; reason?: string }) => {
      const { service } = await resources.service();
      const { limit, reason = null } = options;
      const target = { kind: 'customer', name: email, reason } as const;
      await recordCommandOn(service, 'customers.set_limits', target, () =>
        setLimitsByOperator(service, email, limit),
      );
      terminal.out(`${formatCount(Object.keys(limit).length, 'limit')} of the customer’s own`);
    });
}

type OwnLimitValues = Readonly<Partial<Record<OwnLimitName, number>>>;

function parseLimit(text: string, others: OwnLimitValues): OwnLimitValues {
  const [, name = '', count] = /^([a-z_]+)=(\d{1,7})$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be name=count, such as servers=60.');
  return { ...others, [name]: Number(count) };
}
