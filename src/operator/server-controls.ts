/** `servers freeze`, `servers hold`, `servers release`, `servers mail`. */
import { Argument, type Command } from 'commander';
import type { Service } from '../domain/context.ts';
import { freezeServer } from '../domain/servers/freeze.ts';
import { findServerForOperator } from '../domain/servers/operator-servers.ts';
import { setOutboundMail } from '../domain/servers/outbound-mail.ts';
import { placeLegalHold } from '../domain/servers/place-legal-hold.ts';
import { releaseServer } from '../domain/servers/release-server.ts';
import type { OperatorContext } from './context.ts';
import { formatControls } from './server-format.ts';

export function addServerControls(servers: Command, { resources, terminal }: OperatorContext): void {
  const applyControl = async (id: string, control: (service: Service) => Promise<boolean>) => {
    const { service } = await resources.service();
    const changed = await control(service);
    const row = await findServerForOperator(service, id);
    terminal.out(`${id} is ${formatControls(row)}${changed ? '' : ' (as before)'}`);
  };
  servers
    .command('freeze')
    .argument('<id>', 'srv_…')
    .requiredOption('--reason <text>', 'one line; its customer reads it')
    .description('switch a server off: its customer may look at it and destroy it, nothing else')
    .action(async (id: string, { reason }: { reason: string }) => {
      await applyControl(id, (service) => freezeServer(service, id, reason));
    });
  servers
    .command('hold')
    .argument('<id>', 'srv_…')
    .requiredOption('--order <text>', 'which order it follows, one line; whoever is refused reads it')
    .description('keep a server and its disk: it runs on, and nobody can destroy, rebuild or restore it')
    .action(async (id: string, { order }: { order: string }) => {
      await applyControl(id, (service) => placeLegalHold(service, id, order));
    });
  servers
    .command('release')
    .argument('<id>', 'srv_…')
    .option('--freeze', 'lift the freeze')
    .option('--hold', 'lift the legal hold')
    .description('lift what was put on a server; say which when it is both')
    .action(async (id: string, { freeze = false, hold = false }: { freeze?: boolean; hold?: boolean }) => {
      await applyControl(id, (service) => releaseServer(service, id, { freeze, hold }));
    });
  servers
    .command('mail')
    .argument('<id>', 'srv_…')
    .addArgument(new Argument('<word>', 'whether it may').choices(['allow', 'block']))
    .description('let a server reach others’ mail servers (TCP port 25), or close that again')
    .action(async (id: string, word: 'allow' | 'block') => {
      const { service } = await resources.service();
      const changed = await setOutboundMail(service, id, word === 'allow');
      const effect =
        word === 'allow' ? 'may send mail to other servers' : 'cannot reach others’ mail servers';
      terminal.out(`${id} ${effect}${changed ? '' : ' (as before)'}`);
    });
}
