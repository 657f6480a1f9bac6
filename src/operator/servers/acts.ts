/** `servers power`, `rescue`, `console`, `move`, `resize`, `rebuild`, `delete`. */
import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { Service } from '../../domain/context.ts';
import { moveServer } from '../../domain/servers/moves/queue.ts';
import {
  deleteForOperator,
  openConsoleForOperator,
  POWER_ACTS,
  type PowerAct,
  rebuildForOperator,
  rescueForOperator,
  resizeForOperator,
  setServerPower,
} from '../../domain/servers/operator/acts.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { OperatorContext, Terminal } from '../context.ts';

/** Runs a verb on one server, and records it in the staff log. */
type Act = <Result>(
  operation: StaffOperation,
  id: string,
  verb: (service: Service) => Promise<Result>,
) => Promise<Result>;

export function addServerActs(servers: Command, { resources, terminal }: OperatorContext): void {
  const act: Act = async (operation, id, verb) => {
    const { service } = await resources.service();
    return await recordCommandOn(service, operation, { kind: 'server', name: id }, () => verb(service));
  };
  addPower(servers, terminal, act);
  addChanges(servers, terminal, act);
  addLosses(servers, terminal, act);
}

function addPower(servers: Command, terminal: Terminal, act: Act): void {
  servers
    .command('power')
    .argument('<id>', 'srv_…')
    .addArgument(
      new Argument('<action>', 'Power action; shutdown and reboot ask the system first').choices(POWER_ACTS),
    )
    .description('Start, stop, or restart a server')
    .action(async (id: string, power: PowerAct) => {
      await act('servers.power', id, (service) => setServerPower(service, id, power));
      terminal.out(`${id}: ${power} began`);
    });
  servers
    .command('rescue')
    .argument('<id>', 'srv_…')
    .description('Boot a server into the rescue system, until its next restart')
    .action(async (id: string) => {
      const { rescue } = await act('servers.rescue', id, (service) => rescueForOperator(service, id));
      terminal.out(`${id}: rescue system begins; sign in as ${rescue.username} with ${rescue.password}`);
    });
  servers
    .command('console')
    .argument('<id>', 'srv_…')
    .option('--read-only', 'Watch only')
    .description(
      'Create a link to the console of a server, which works once; its customer sees that in the audit log',
    )
    .action(async (id: string, { readOnly = false }: { readonly readOnly?: boolean }) => {
      const { url } = await act('servers.open_console', id, (service) =>
        openConsoleForOperator(service, id, { readOnly }),
      );
      terminal.out(url);
    });
}

interface ResizeOptions {
  readonly plan: string;
  readonly maxUsd: number;
  readonly disk?: boolean;
  readonly restart?: boolean;
}

function addChanges(servers: Command, terminal: Terminal, act: Act): void {
  servers
    .command('move')
    .argument('<id>', 'srv_…')
    .option('--to <host>', 'Only to this host of its region')
    .description('Move a server to another host; it keeps running')
    .action(async (id: string, { to }: { readonly to?: string }) => {
      await act('servers.move', id, (service) => moveServer(service, id, to ?? null));
      terminal.out(`${id} is queued: see skerryd hosts moves`);
    });
  servers
    .command('resize')
    .argument('<id>', 'srv_…')
    .requiredOption('--plan <id>', 'Plan that it gets')
    .requiredOption('--max-usd <amount>', 'Most to charge the customer now, such as 12.50', parsePrice)
    .option('--disk', 'Enlarge the disk to that of the plan; it never shrinks')
    .option('--restart', 'Allow to restart a running server')
    .description('Give a server another plan; its customer is charged or credited as for their own resize')
    .action(async (id: string, { plan, maxUsd, disk = false, restart = false }: ResizeOptions) => {
      const body = { plan, max_price_usd: maxUsd, resize_disk: disk, restart };
      await act('servers.resize', id, (service) => resizeForOperator(service, id, body));
      terminal.out(`${id}: resize to ${plan} began`);
    });
}

function parsePrice(text: string): number {
  const cents = parseUnits(text, 2);
  if (cents === undefined || cents < 0n) throw new InvalidArgumentError('Enter US dollars, such as 12.50.');
  return Number(text);
}

interface RebuildOptions {
  readonly image?: string | null;
  readonly sshKey?: string | null;
  readonly yes?: boolean;
}

function addLosses(servers: Command, terminal: Terminal, act: Act): void {
  servers
    .command('rebuild')
    .argument('<id>', 'srv_…')
    .option('--image <id>', 'Image ID; the current image if omitted')
    .option('--ssh-key <id>', 'Key of the customer (k_…); the keys of the server if omitted')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Install a server again; all data on its disk is lost')
    .action(async (id: string, { image = null, sshKey = null, yes = false }: RebuildOptions) => {
      if (!(await confirm(terminal, yes, `Rebuild ${id}? All data on its disk is lost.`))) return;
      await act('servers.rebuild', id, (service) => rebuildForOperator(service, id, { image, sshKey }));
      terminal.out(`${id}: rebuild began`);
    });
  servers
    .command('delete')
    .argument('<id>', 'srv_…')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Delete a server; all data on its disk is lost')
    .action(async (id: string, { yes = false }: { readonly yes?: boolean }) => {
      if (!(await confirm(terminal, yes, `Delete ${id}? All data on its disk is lost.`))) return;
      const { refund_usd: refund } = await act('servers.delete', id, (service) =>
        deleteForOperator(service, id),
      );
      terminal.out(`${id} is being deleted; refunded: ${refund.toFixed(2)} USD`);
    });
}

async function confirm({ ask, out }: Terminal, isSure: boolean, question: string): Promise<boolean> {
  if (isSure) return true;
  if (!ask) throw new OperatorError('nothing was changed: pass --yes to confirm');
  if (await ask(question)) return true;
  out('nothing was changed');
  return false;
}
