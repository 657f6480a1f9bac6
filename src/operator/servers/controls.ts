/** `servers freeze`, `servers hold`, `servers release`, `servers mail`. */
import { Argument, type Command } from 'commander';
import type { Service } from '../../domain/context.ts';
import {
  freezeServer,
  placeLegalHold,
  releaseServer,
  setOutboundMail,
} from '../../domain/servers/operator/controls.ts';
import { findServerForOperator } from '../../domain/servers/operator/find.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { OperatorContext } from '../context.ts';
import { formatControls } from '../format/server.ts';

export function addServerControls(servers: Command, { resources, terminal }: OperatorContext): void {
  const applyControl = async (
    operation: StaffOperation,
    id: string,
    control: (service: Service) => Promise<boolean>,
  ) => {
    const { service } = await resources.service();
    const target = { kind: 'server', name: id } as const;
    const changed = await recordCommandOn(service, operation, target, () => control(service));
    const row = await findServerForOperator(service, id);
    terminal.out(`${id}: ${formatControls(row)}${changed ? '' : ' (unchanged)'}`);
  };
  servers
    .command('freeze')
    .argument('<id>', 'srv_…')
    .requiredOption('--reason <text>', 'One line, shown to the customer')
    .description('Power off a server; its customer can only view and delete it')
    .action(async (id: string, { reason }: { reason: string }) => {
      await applyControl('servers.freeze', id, (service) => freezeServer(service, id, reason));
    });
  servers
    .command('hold')
    .argument('<id>', 'srv_…')
    .requiredOption('--order <text>', 'Legal order, one line; shown to anyone whose request it blocks')
    .description('Preserve a server and its disk: it keeps running and cannot be deleted or overwritten')
    .action(async (id: string, { order }: { order: string }) => {
      await applyControl('servers.hold', id, (service) => placeLegalHold(service, id, order));
    });
  servers
    .command('release')
    .argument('<id>', 'srv_…')
    .option('--freeze', 'Lift the freeze')
    .option('--hold', 'Lift the legal hold')
    .description('Lift a freeze or a legal hold; with both, choose --freeze or --hold')
    .action(async (id: string, { freeze = false, hold = false }: { freeze?: boolean; hold?: boolean }) => {
      const operation = hold ? 'servers.release_hold' : 'servers.release';
      await applyControl(operation, id, (service) => releaseServer(service, id, { freeze, hold }));
    });
  servers
    .command('mail')
    .argument('<id>', 'srv_…')
    .addArgument(new Argument('<word>', 'Allow or block').choices(['allow', 'block']))
    .description('Allow or block outbound SMTP (TCP port 25) of a server')
    .action(async (id: string, word: 'allow' | 'block') => {
      const { service } = await resources.service();
      const target = { kind: 'server', name: id } as const;
      const changed = await recordCommandOn(service, 'servers.set_mail', target, () =>
        setOutboundMail(service, id, word === 'allow'),
      );
      const effect = word === 'allow' ? 'outbound SMTP is allowed' : 'outbound SMTP is blocked';
      terminal.out(`${id}: ${effect}${changed ? '' : ' (unchanged)'}`);
    });
}
