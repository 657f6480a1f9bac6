// Uploads a file and prints the peak memory of the program.
import { openAsBlob } from 'node:fs';
import { Skerry } from '@skerry/sdk';

const { SKERRY_API_URL: baseUrl = '', SKERRY_TOKEN: token = '', ISO_FILE = '' } = process.env;
const skerry = new Skerry({ baseUrl, token });
const image = await skerry.images.create({ name: 'large', file: await openAsBlob(ISO_FILE) });
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ sizeGb: image.size_gb, maxRssMb: maxRSS / 1024 }));
