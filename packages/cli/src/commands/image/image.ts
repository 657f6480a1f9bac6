import type { Command } from '../../command.ts';
import { IMAGE_READ } from './read.ts';
import { upload } from './upload.ts';

export const IMAGE_COMMANDS: readonly Command[] = [...IMAGE_READ, upload];
