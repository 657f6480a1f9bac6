import type { Command } from '../../command.ts';
import { openConsole } from './console.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { metrics } from './metrics.ts';
import { SERVER_POWER } from './power.ts';
import { SERVER_READ } from './read.ts';
import { SERVER_REINSTALL } from './reinstall.ts';
import { rescue } from './rescue.ts';
import { ssh } from './ssh.ts';
import { SERVER_UPDATE } from './update.ts';

export const SERVER_COMMANDS: readonly Command[] = [
  ...SERVER_READ,
  create,
  ...SERVER_UPDATE,
  remove,
  ...SERVER_POWER,
  ...SERVER_REINSTALL,
  rescue,
  openConsole,
  metrics,
  ssh,
];
