/** Texts to customers about each kind of abuse, and how long they have to answer. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatRfc3339, formatSessionTime } from '../../../kernel/time.ts';
import { ABUSE_KINDS, ABUSE_LIMITS, ABUSE_TEMPLATES, type AbuseKind } from '../../../spec/staff/abuse.ts';
import {
  type AbuseTemplateRow,
  listAbuseTemplates,
  saveAbuseTemplate,
} from '../../../store/staff/abuse-counts.ts';
import type { Service } from '../../context.ts';
import { cleanText } from '../../customers/tickets/text.ts';

export type AbuseTemplateView = ReturnType<typeof toView>;

function toView(kind: AbuseKind, row: AbuseTemplateRow | undefined) {
  const proposed = ABUSE_TEMPLATES[kind];
  return {
    object: 'abuse_template' as const,
    id: kind,
    deadline_hours: row?.deadline_hours ?? proposed.deadlineHours,
    text: row?.text ?? proposed.text,
    /** Null: as the service proposes it. */
    updated_at: row ? formatRfc3339(row.updated_at) : null,
  };
}

/** One for each kind. */
export async function readAbuseTemplates({ db }: Pick<Service, 'db'>): Promise<AbuseTemplateView[]> {
  const rows = await listAbuseTemplates(db);
  return ABUSE_KINDS.map((kind) =>
    toView(
      kind,
      rows.find((row) => row.kind === kind),
    ),
  );
}

/** Fails with `not_found`. */
export async function readAbuseTemplate(
  service: Pick<Service, 'db'>,
  kind: string,
): Promise<AbuseTemplateView> {
  const found = (await readAbuseTemplates(service)).find(({ id }) => id === kind);
  return found ?? fail('not_found', {}, 'This is no kind of abuse.');
}

/** Fails with `not_found` and `invalid_request`. */
export async function setAbuseTemplate(
  service: Pick<Service, 'db' | 'clock'>,
  kind: string,
  { text, deadline_hours: hours }: { readonly text: string; readonly deadline_hours: number },
): Promise<AbuseTemplateView> {
  const { id } = await readAbuseTemplate(service, kind);
  const max = ABUSE_LIMITS.textMaxChars;
  if (text.length > max) invalidRequest([{ field: 'text', issue: 'max_length', max }]);
  const row = { kind: id, deadline_hours: hours, text: cleanText(text), updated_at: service.clock.now() };
  await saveAbuseTemplate(service.db, row);
  return await readAbuseTemplate(service, id);
}

export interface TemplateValues {
  readonly server: string | null;
  readonly address: string | null;
  readonly time: Date;
  readonly deadline: Date;
}

/** Fills the placeholders in one pass: a name of a server that looks like one stays as it is. */
export function fillTemplate(text: string, { server, address, time, deadline }: TemplateValues): string {
  const values: Readonly<Record<string, string>> = {
    server: server ?? 'that was deleted',
    address: address ?? '',
    time: `${formatMinutes(time)} UTC`,
    deadline: `${formatMinutes(deadline)} UTC`,
  };
  return text.replace(/\{(server|address|time|deadline)\}/g, (_, name: string) => values[name] ?? '');
}

/** `2026-12-01 22:00` */
export function formatMinutes(time: Date): string {
  return formatSessionTime(time).slice(0, 16);
}
