/** `servers freeze`, `servers hold`, `servers release`, `servers mail`. */
import { Argument, type Command } from 'commander';
import type { Service } from '../domain/context.ts';
import { findServerForOperator } from '../domain/servers/desk.ts';
import { freezeServer } from '../domain/servers/freeze.ts';
import { holdServer } from '../domain/servers/hold.ts';
import { allowMail } from '../domain/servers/mail.ts';
import { releaseServer } from '../domain/servers/release.ts';
import type { OperatorContext } from './context.ts';
import { leversText } from './server-text.ts';

export function addServerLevers(servers: Command, { doors, terminal }: OperatorContext): void {
  const pull = async (id: string, lever: (service: Service) => Promise<boolean>) => {
    const { service } = await doors.service();
    const changed = await lever(service);
    const row = await findServerForOperator(service, id);
    terminal.out(`${id} is ${leversText(row)}${changed ? '' : ' (as before)'}`);
  };
  servers
    .command('freeze')
    .argument('<id>', 'srv_…')
    .requiredOption('--reason <text>', 'one line; its customer reads it')
    .description('switch a server off: its customer may look at it and destroy it, nothing else')
    .action(async (id: string, { reason }: { reason: string }) => {
      await pull(id, (service) => freezeServer(service, id, reason));
    });
  servers
    .command('hold')
    .argument('<id>', 'srv_…')
    .requiredOption('--order <text>', 'which order it follows, one line; whoever is refused reads it')
    .description('keep a server and its disk: it runs on, and nobody can destroy, rebuild or restore it')
    .action(async (id: string, { order }: { order: string }) => {
      await pull(id, (service) => holdServer(service, id, order));
    });
  servers
    .command('release')
    .argument('<id>', 'srv_…')
    .option('--freeze', 'lift the freeze')
    .option('--hold', 'lift the legal hold')
    .description('lift what was put on a server; say which when it is both')
    .action(async (id: string, { freeze = false, hold = false }: { freeze?: boolean; hold?: boolean }) => {
      await pull(id, (service) => releaseServer(service, id, { freeze, hold }));
    });
  servers
    .command('mail')
    .argument('<id>', 'srv_…')
    .addArgument(new Argument('<word>', 'whether it may').choices(['allow', 'block']))
    .description('let a server reach others’ mail servers (TCP port 25), or close that again')
    .action(async (id: string, word: 'allow' | 'block') => {
      const { service } = await doors.service();
      const changed = await allowMail(service, id, word === 'allow');
      const says = word === 'allow' ? 'may send mail to other servers' : 'cannot reach others’ mail servers';
      terminal.out(`${id} ${says}${changed ? '' : ' (as before)'}`);
    });
}
