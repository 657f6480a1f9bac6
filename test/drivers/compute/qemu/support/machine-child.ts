/** A process to be killed while it works on a machine. Arguments: a verb, the driver's options, the spec. */
import { openQemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';

const [verb = '', options = '', spec = ''] = process.argv.slice(2);
const driver = openQemuCompute({ ...JSON.parse(options), log: createLogger('silent') });
await (verb === 'rebuild' ? driver.rebuild(JSON.parse(spec)) : driver.ensure(JSON.parse(spec)));
