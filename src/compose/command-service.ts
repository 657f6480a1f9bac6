/**
 * The service for a command of the operator. A module of its own, loaded on first use: it imports almost
 * everything, which takes a second that `skerryd --help` need not.
 */
import type { Config } from '../config.ts';
import { compareMarks } from '../domain/topups/recovery.ts';
import { MAIL_PARSER } from '../drivers/mail/parser.ts';
import { createCarryOut } from '../http/admin/approved.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { OpenService } from '../operator/context.ts';
import { consoleUrl } from './admin.ts';
import { createHostInviter } from './backends.ts';
import type { DatabaseHandle } from './database.ts';
import { createAddressDeriver } from './derive-addresses.ts';
import { createHostRegistrar, endSimulatedHosts } from './seed.ts';
import { openService } from './service.ts';

/** Leaves it to the caller to close the service, and then the database. */
export async function openCommandService(
  config: Config,
  { connection }: DatabaseHandle,
  warn: (line: string) => void,
): Promise<{ readonly open: OpenService; readonly close: () => Promise<void> }> {
  // Commands print their own output, so log errors only.
  const quiet = { ...config, SKERRY_LOG_LEVEL: 'error' as const };
  const { service, simulation, live, close } = await openService(quiet, connection);
  // A user without access to the data folder can still run commands.
  await compareMarks(service).catch(async (error: unknown) => {
    if (error instanceof OperatorError) return warn(`skerryd: ${error.message}`);
    await close();
    throw error;
  });
  const inviter = createHostInviter(service);
  const register = createHostRegistrar(service, simulation?.compute ?? null);
  const ending = endSimulatedHosts(simulation?.compute ?? null);
  const open = {
    service,
    consoleUrl: quiet.SKERRY_ADMIN_PORT === null ? null : consoleUrl(quiet, quiet.SKERRY_ADMIN_PORT),
    carryOut: createCarryOut(service, { inviter, register, ...ending }),
    inviter,
    register,
    mailParser: MAIL_PARSER,
    ...ending,
    coins: live && { ...live, deriverFor: (coin) => createAddressDeriver(quiet, coin) },
  } satisfies OpenService;
  return { open, close };
}
