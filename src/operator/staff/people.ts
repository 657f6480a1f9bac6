/** `staff`: the people who may use the console. */
import { type Command, Option } from 'commander';
import { readStaffLog } from '../../domain/staff/log.ts';
import {
  changeRole,
  endAccess,
  endStaffSessions,
  inviteStaff,
  listStaff,
  readStaff,
  requireStaff,
} from '../../domain/staff/people.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { createStaffToken, listStaffTokens, revokeStaffToken } from '../../domain/staff/tokens.ts';
import { STAFF_LIMITS, STAFF_ROLES } from '../../spec/staff/roles.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const NAME = 'Email address, or stf_…';
const LIMIT = 100;

export function addStaff(program: Command, context: OperatorContext): void {
  const staff = program.command('staff').description('Manage the people who may use the console');
  addPeople(staff, context);
  addShow(staff, context);
  addInvite(staff, context);
  addChanges(staff, context);
  addTokens(staff.command('tokens').description('Manage the API tokens of a person'), context);
  addLog(staff, context);
}

function addPeople(staff: Command, { resources, terminal }: OperatorContext): void {
  staff
    .command('list')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List staff, newest first')
    .action(async (query: { readonly limit: number }) => {
      const { service } = await resources.service();
      const { people, hasMore } = await listStaff(service, query);
      const rows = people.map((row) => [
        ...[row.id, row.email, row.name, row.role, row.status],
        row.created_at.slice(0, 10),
      ]);
      terminal.table(['id', 'email', 'name', 'role', 'state', 'since'], rows);
      terminal.document(people);
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'person', 'people'));
    });
}

function addShow(staff: Command, { resources, terminal }: OperatorContext): void {
  staff
    .command('show')
    .argument('<who>', NAME)
    .description('Show a person')
    .action(async (who: string) => {
      const { service } = await resources.service();
      const person = await readStaff(service, who);
      const { object: _, ...facts } = person;
      terminal.facts(Object.entries(facts));
      terminal.document(person);
    });
}

function addInvite(staff: Command, { resources, terminal }: OperatorContext): void {
  staff
    .command('invite')
    .argument('<email>')
    .requiredOption('--name <text>', 'Name of the person')
    .addOption(new Option('--role <word>', 'Their role').choices(STAFF_ROLES).default('owner'))
    .description('Create an invitation; for someone who lost their authenticator, invite them again')
    .action(async (email: string, { name, role }: { name: string; role: string }) => {
      const { service, consoleUrl = null } = await resources.service();
      const { staff: person, code } = await recordCommand(
        service,
        { operation: 'staff.invite', target: email },
        () => inviteStaff(service, { email, name, role }, { isRecovery: true }),
      );
      const hours = STAFF_LIMITS.inviteHours;
      terminal.out(`invited ${person.email} as ${person.role}; the link works once, for ${hours} hours:`);
      terminal.out(`${consoleUrl ?? ''}/join?code=${code}`);
      if (consoleUrl === null)
        terminal.err('the console is off: set SKERRY_ADMIN_PORT and restart the service');
    });
}

function addChanges(staff: Command, { resources, terminal }: OperatorContext): void {
  staff
    .command('role')
    .argument('<who>', NAME)
    .argument('<role>', `One of ${STAFF_ROLES.join(', ')}`)
    .description('Change the role of a person, and end their sessions')
    .action(async (who: string, role: string) => {
      const { service } = await resources.service();
      const person = await recordCommand(service, { operation: 'staff.set_role', target: who }, () =>
        changeRole(service, who, role),
      );
      terminal.out(`${person.email} is now ${person.role}`);
    });
  staff
    .command('disable')
    .argument('<who>', NAME)
    .description('End the access of a person')
    .action(async (who: string) => {
      const { service } = await resources.service();
      const person = await recordCommand(service, { operation: 'staff.disable', target: who }, () =>
        endAccess(service, who),
      );
      terminal.out(`${person.email} no longer has access`);
    });
  staff
    .command('end-sessions')
    .argument('<who>', NAME)
    .description('End the sessions and API tokens of a person, who can sign in again')
    .action(async (who: string) => {
      const { service } = await resources.service();
      const ended = await recordCommand(service, { operation: 'staff.end_sessions', target: who }, () =>
        endStaffSessions(service, who),
      );
      terminal.out(`sessions ended: ${ended.sessions}; API tokens revoked: ${ended.tokens}`);
    });
}

function addTokens(tokens: Command, { resources, terminal }: OperatorContext): void {
  tokens
    .command('list')
    .argument('<who>', NAME)
    .description('List the API tokens of a person, newest first')
    .action(async (who: string) => {
      const { service } = await resources.service();
      const rows = (await listStaffTokens(service, await requireStaff(service, who))).map((row) => [
        row.id,
        row.name,
        row.role,
        row.created_at.slice(0, 10),
        row.expires_at.slice(0, 10),
        row.last_used_at?.slice(0, 10) ?? 'never',
      ]);
      terminal.table(['token', 'name', 'role', 'created', 'expires', 'last used'], rows);
    });
  tokens
    .command('create')
    .argument('<who>', NAME)
    .requiredOption('--name <text>', 'Name of the token')
    .addOption(new Option('--role <word>', 'Its role; default: the role of the person').choices(STAFF_ROLES))
    .option('--expires-at <time>', 'RFC 3339 time; default and at most: a year from now')
    .description('Create an API token for the endpoints under /admin/v1, and print it once')
    .action(async (who: string, options: { name: string; role?: string; expiresAt?: string }) => {
      const { service } = await resources.service();
      const { token } = await recordCommand(
        service,
        { operation: 'staff_tokens.create', target: who },
        async () =>
          createStaffToken(service, await requireStaff(service, who), {
            name: options.name,
            ...(options.role !== undefined && { role: options.role }),
            expires_at: options.expiresAt ?? null,
          }),
      );
      terminal.out(token);
    });
  tokens
    .command('revoke')
    .argument('<who>', NAME)
    .argument('<id>', 'Id of the token, stk_…')
    .description('Revoke an API token')
    .action(async (who: string, id: string) => {
      const { service } = await resources.service();
      await recordCommand(service, { operation: 'staff_tokens.revoke', target: id }, async () =>
        revokeStaffToken(service, await requireStaff(service, who), id),
      );
      terminal.out(`${id} is revoked`);
    });
}

function addLog(staff: Command, { resources, terminal }: OperatorContext): void {
  staff
    .command('log')
    .option('--staff <id>', 'Only acts of this person, stf_…')
    .option('--target <id>', 'Only acts on this target')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List the acts of staff, newest first')
    .action(async (query: { staff?: string; target?: string; limit: number }) => {
      const { service } = await resources.service();
      const { entries, hasMore } = await readStaffLog(service, query);
      const rows = entries.map((row) => [
        row.created_at.slice(0, 19).replace('T', ' '),
        row.email ?? row.surface,
        row.operation,
        row.target ?? '',
        row.fault === null ? row.result : `${row.result} (${row.fault})`,
        row.reason ?? '',
      ]);
      terminal.table(['time (UTC)', 'who', 'operation', 'target', 'result', 'reason'], rows);
      terminal.document(entries);
      if (hasMore) terminal.err(formatMoreHint(entries.length, 'entry', 'entries'));
    });
}
