/**
 * Runs tasks one step at a time. A step is a statement, the effect of a driver, its answer, or a timer.
 * Before each one the task waits here. When nothing moves, because every task waits here, waits in the
 * database for a lock, or has ended, the seed chooses the next step. So the order depends on nothing else.
 */
import { Failure } from '../../../src/kernel/fail.ts';
import { runIn } from './context.ts';
import { type Chances, EventBudget, type Fate } from './events.ts';
import { Random, type Strategy, strategyOf } from './random.ts';
import { type Operation, Settling, type Wait } from './settling.ts';
import { VirtualTime } from './time.ts';

export interface StepKind {
  readonly label: string;
  /** Its possible ends. */
  readonly fates: readonly Fate[];
  /** Rises when the time has come, if it is a sleep. */
  readonly dueMs?: number;
}

interface Step extends StepKind {
  readonly task: Task;
  readonly order: number;
  readonly go: (fate: Fate) => void;
}

/** A task of a process: `name@process`. Without a process, it has one of its own. */
export class Task {
  readonly name: string;
  readonly process: string;
  readonly number: number;
  state: 'running' | 'ended' | 'dead' = 'running';
  result: unknown;
  error: unknown;
  /** Ends what a dead process leaves in the database. */
  readonly sessions = new Set<{ end(): Promise<void> }>();
  inFlight = 0;

  constructor(name: string, number: number) {
    this.name = name;
    this.process = name.split('@')[1] ?? name;
    this.number = number;
  }
}

export type Work = () => Promise<unknown>;

/** More steps than any scenario needs: it does not end. */
const STEPS_MAX = 3_000;
/** How often a choice is time or a fault instead of the next step, where it may be. */
const EVENT_CHANCE = 0.08;

export class Scheduler {
  readonly random: Random;
  readonly time = new VirtualTime();
  readonly trace: string[] = [];
  readonly tasks: Task[] = [];
  readonly #settling: Settling;
  readonly #events: EventBudget;
  readonly #steps: Step[] = [];
  readonly #onTime: (now: Date) => Promise<void>;
  #strategy: Strategy | undefined;
  #stepCount = 0;
  #isCalm = false;

  constructor(options: {
    readonly seed: number;
    readonly chances?: Chances | undefined;
    readonly wait: Wait;
    /** Told before the timers that have become due. */
    readonly onTime: (now: Date) => Promise<void>;
  }) {
    this.random = new Random(options.seed);
    this.#events = new EventBudget(this.random, options.chances ?? {});
    this.#settling = new Settling(options.wait, this.random);
    this.#onTime = options.onTime;
  }

  /** Waits until the step is chosen, and never longer than the task lives. */
  async park(task: Task, kind: StepKind): Promise<Fate> {
    return await new Promise<Fate>((go) => {
      if (task.state !== 'dead') this.#steps.push({ ...kind, task, order: ++this.#stepCount, go });
    });
  }

  /** Tells that something moves until `end`. A statement may wait for a lock of the session `pid` instead. */
  begin(task: Task | null, label: string, pid: number | null = null): Operation {
    if (task) task.inFlight += 1;
    const operation = this.#settling.begin({ label: task ? `${task.name}: ${label}` : label, pid });
    const { end } = operation;
    operation.end = (deliver) => {
      if (task) task.inFlight -= 1;
      end(deliver);
    };
    return operation;
  }

  /** Runs them all to their ends. In a calm run, nothing fails and time passes only while all sleep. */
  async run(works: Readonly<Record<string, Work>>, { isCalm = false } = {}): Promise<void> {
    this.#isCalm = isCalm;
    for (const [name, work] of Object.entries(works)) this.#start(name, work);
    this.#strategy = strategyOf(this.random, this.tasks.length);
    for (;;) {
      for (const label of await this.#settling.settle()) this.trace.push(label);
      if (this.trace.length > STEPS_MAX) throw new Error('the tasks do not end');
      if (!(await this.#choose())) return;
    }
  }

  #start(name: string, work: Work): void {
    const task = new Task(name, this.tasks.length);
    this.tasks.push(task);
    const begin = async () => {
      await this.park(task, { label: 'starts', fates: ['run'] });
      try {
        task.result = await work();
        task.state = 'ended';
      } catch (error) {
        task.error = error;
        task.state = 'ended';
      }
      this.trace.push(`${task.name} ${describeEnd(task)}`);
    };
    runIn({ random: this.random, time: this.time, task }, () => void begin());
  }

  /** Makes one choice. Returns false when nothing is left to choose. */
  async #choose(): Promise<boolean> {
    const isAlive = (task: unknown) => (task as Task).state === 'running';
    const alive = this.tasks.some(isAlive);
    if (this.#steps.length === 0 && !alive) return false;
    const dueMs = this.time.nextMs(isAlive, this.#isCalm);
    if (this.#isCalm === false && alive && this.random.chance(EVENT_CHANCE) && (await this.#event(dueMs)))
      return true;
    const step = this.#nextStep();
    if (step) this.#go(step, this.#isCalm ? 'run' : this.#fateOf(step));
    else if (dueMs !== null) await this.moveTime(dueMs);
    else if (alive) throw new Error('the tasks wait for each other');
    return true;
  }

  #nextStep(): Step | undefined {
    const runnable = [...new Set(this.#steps.map(({ task }) => task.number))].sort((a, b) => a - b);
    if (runnable.length === 0) return undefined;
    const chosen = this.#strategy?.pick(runnable) ?? 0;
    const steps = this.#steps.filter(({ task }) => task.number === chosen);
    return steps[this.random.below(steps.length)];
  }

  #fateOf({ task, fates }: Step): Fate {
    return this.#events.fateOf(this.#mayDie(task) ? fates : fates.filter((fate) => fate !== 'die'));
  }

  #go(step: Step, fate: Fate): void {
    this.#steps.splice(this.#steps.indexOf(step), 1);
    this.trace.push(`${step.task.name}: ${step.label}${fate === 'run' ? '' : ` (${FATES[fate]})`}`);
    step.go(fate);
  }

  /** Time passes, or a process dies. Returns false if neither may. */
  async #event(dueMs: number | null): Promise<boolean> {
    const mayDie = this.tasks.filter((task) => this.#mayDie(task));
    const event = this.#events.draw({ mayDie: mayDie.length > 0, dueMs, nowMs: this.time.ms });
    if (event === null) return false;
    if (event.kind === 'time') await this.moveTime(event.ms);
    else await this.kill(mayDie[this.random.below(mayDie.length)]);
    return true;
  }

  /** A process may die anywhere, but the database would notice a waiting statement of it only later. */
  #mayDie(task: Task): boolean {
    const own = this.tasks.filter((one) => one.process === task.process && one.state === 'running');
    return own.includes(task) && own.every(({ inFlight }) => inFlight === 0);
  }

  async moveTime(ms: number): Promise<void> {
    if (ms < this.time.ms) return;
    this.trace.push(`time passes: ${ms - this.time.ms} ms`);
    await this.#onTime(new Date(ms));
    this.time.moveTo(ms);
  }

  /** No task of the process goes on. Its connections break, so the database rolls back its transactions. */
  async kill(task: Task | undefined): Promise<void> {
    for (const one of this.tasks) {
      if (one.process !== task?.process || one.state !== 'running') continue;
      this.trace.push(`${one.name} dies`);
      await this.#end(one);
    }
  }

  /** Ends what a failed interleaving leaves. */
  async abandon(): Promise<void> {
    this.#settling.resumeAll();
    await Promise.all(this.tasks.map((task) => this.#end(task)));
  }

  async #end(task: Task): Promise<void> {
    task.state = 'dead';
    this.time.removeOf(task);
    for (const step of this.#steps.filter((one) => one.task === task)) {
      this.#steps.splice(this.#steps.indexOf(step), 1);
    }
    for (const session of [...task.sessions]) {
      const operation = this.begin(null, 'rollback of the dead');
      await session.end();
      operation.end(() => undefined);
    }
  }
}

const FATES: Record<Exclude<Fate, 'run'>, string> = {
  fail: 'fails',
  lose: 'its answer is lost',
  die: 'and the process dies',
};

function describeEnd({ error, result }: Task): string {
  if (error instanceof Failure) return `is refused: ${error.code}`;
  if (error !== undefined) return `fails: ${error instanceof Error ? error.message : String(error)}`;
  return typeof result === 'string' || typeof result === 'number' ? `ends: ${result}` : 'ends';
}
