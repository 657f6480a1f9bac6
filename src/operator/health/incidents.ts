/** `incidents create|update|resolve|list|show`: the operator's texts on the status page. */
import type { Command } from 'commander';
import {
  createIncident,
  pageIncidents,
  readIncident,
  readOpenIncidents,
  resolveIncident,
  updateIncident,
} from '../../domain/health/incidents.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { INCIDENT_STATES, type IncidentState, type PublicIncident } from '../../spec/public-status.ts';
import type { OperatorContext } from '../context.ts';
import { formatFacts, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt, parseTime, parseWord } from '../options.ts';

const LIMIT = 20;
const HEADING = ['incident', 'state', 'from (UTC)', 'until (UTC)', 'affected', 'title'];

interface CreateOptions {
  readonly title: string;
  readonly text: string;
  readonly component?: readonly string[];
  readonly state?: IncidentState;
  readonly from?: Date;
  readonly until?: Date;
}

interface UpdateOptions extends Pick<CreateOptions, 'text' | 'component' | 'state' | 'until'> {}

export function addIncidents(program: Command, context: OperatorContext): void {
  const incidents = program
    .command('incidents')
    .description('Tell customers about incidents and planned maintenance, on the status page');
  addCreate(incidents, context);
  addUpdate(incidents, context);
  addResolve(incidents, context);
  addListAndShow(incidents, context);
}

function addCreate(parent: Command, { resources, terminal }: OperatorContext): void {
  withState(withComponents(parent.command('create')))
    .requiredOption('--title <text>', 'One line')
    .requiredOption('--text <text>', 'The first update; may have several lines')
    .option('--from <time>', 'Planned maintenance: its start, such as 2026-12-01T22:00:00Z', parseTime)
    .option('--until <time>', 'Planned maintenance: its end', parseTime)
    .description('Publish an incident that began now, or planned maintenance with --from and --until')
    .action(async ({ title, text, component = [], state, from, until }: CreateOptions) => {
      if ((from === undefined) !== (until === undefined))
        throw new OperatorError('planned maintenance needs --from and --until');
      if (from && state) throw new OperatorError('planned maintenance has no --state: it follows the clock');
      const { service } = await resources.service();
      const planned = from && until ? { from, until } : null;
      const incident = { title, text, components: component, state: state ?? 'investigating', planned };
      const operation = planned === null ? 'incidents.create' : 'incidents.announce';
      const id = await recordCommand(service, { operation, target: null }, () =>
        createIncident(service, incident),
      );
      terminal.out(`${id} is published`);
    });
}

function addUpdate(parent: Command, { resources, terminal }: OperatorContext): void {
  withState(withComponents(parent.command('update')))
    .argument('<id>', 'Incident id: inc_…')
    .requiredOption('--text <text>', 'The update; may have several lines')
    .option('--until <time>', 'Planned maintenance: its new end', parseTime)
    .description('Publish an update, and change the state, the components, or the planned end')
    .action(async (id: string, { text, component, state, until }: UpdateOptions) => {
      const { service } = await resources.service();
      const now = await recordCommandOn(service, 'incidents.update', { kind: 'incident', name: id }, () =>
        updateIncident(service, id, { text, state, until, components: component }),
      );
      terminal.out(`${id} is ${now}`);
    });
}

function addResolve(parent: Command, { resources, terminal }: OperatorContext): void {
  parent
    .command('resolve')
    .argument('<id>', 'Incident id: inc_…')
    .option('--text <text>', 'The last update; may have several lines', 'This is resolved.')
    .description('End an incident, or maintenance before its end; cancel maintenance that did not begin')
    .action(async (id: string, { text }: { readonly text: string }) => {
      const { service } = await resources.service();
      const now = await recordCommandOn(service, 'incidents.resolve', { kind: 'incident', name: id }, () =>
        resolveIncident(service, id, text),
      );
      terminal.out(`${id} is ${now}`);
    });
}

function addListAndShow(parent: Command, { resources, terminal }: OperatorContext): void {
  parent
    .command('list')
    .option('--all', 'Past ones, too, newest first')
    .option(
      '--limit <count>',
      `With --all: maximum number of rows, default ${LIMIT}`,
      parsePositiveInt,
      LIMIT,
    )
    .description('List what is going on or planned')
    .action(async (options: { readonly all?: true; readonly limit: number }) => {
      const { service } = await resources.service();
      const { items, next } = options.all
        ? await pageIncidents(service, { after: null, limit: options.limit })
        : { items: await readOpenIncidents(service), next: null };
      terminal.table(HEADING, items.map(columns));
      terminal.document(items);
      if (next !== null) terminal.err(formatMoreHint(options.limit, 'incident'));
    });
  parent
    .command('show')
    .argument('<id>', 'Incident id: inc_…')
    .description('Show an incident with its updates, newest first')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const incident = await readIncident(service, id);
      for (const line of describe(incident)) terminal.out(line);
      terminal.document(incident);
    });
}

function withComponents(command: Command): Command {
  const collect = (text: string, before: readonly string[] = []) => [...before, text];
  return command.option(
    '--component <name>',
    'Affected: panel, deploys, payments, webhooks, or region:<code>; may be repeated; default: everything',
    collect,
  );
}

function withState(command: Command): Command {
  const parse = (text: string) => parseWord(text, INCIDENT_STATES, `one of ${INCIDENT_STATES.join(', ')}`);
  return command.option(
    '--state <state>',
    `State: ${INCIDENT_STATES.join(', ')}; default: investigating`,
    parse,
  );
}

const shownTime = (text: string | null) => (text === null ? '' : formatSessionTime(new Date(text)));

function columns({
  id,
  state,
  starts_at,
  ends_at,
  resolved_at,
  components,
  title,
}: PublicIncident): string[] {
  const until = resolved_at ?? ends_at;
  return [id, state, shownTime(starts_at), shownTime(until), components.join(' ') || 'everything', title];
}

function describe(incident: PublicIncident): string[] {
  const [, state = '', from = '', until = '', affected = '', title = ''] = columns(incident);
  const facts = [
    ['title', title],
    ['state', state],
    ['from (UTC)', from],
    ['until (UTC)', until === '' ? null : until],
    ['affected', affected],
  ] as const;
  const updates = incident.updates.flatMap((update) => [
    '',
    `${shownTime(update.created_at)} UTC${update.state === null ? '' : ` ${update.state}`}`,
    ...update.text.split('\n').map((line) => `  ${line}`),
  ]);
  return [...formatFacts(facts), ...updates];
}
