import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

import { aborted } from './aborted.ts';
import { CannotPrepare } from './field-ref.ts';
import { launch, type Exit, type HostContext, type Launched } from './launch.ts';
import type { RunnableContainer } from './pod-spec.ts';
import { watchProbe } from './probe.ts';
import { programFor } from './program.ts';

export type ContainerState =
  | { readonly waiting: { readonly reason: string; readonly message?: string } }
  | { readonly running: { readonly startedAt: string } }
  | {
      readonly terminated: {
        readonly exitCode: number;
        readonly reason: string;
        readonly message?: string;
        readonly startedAt: string;
        readonly finishedAt: string;
      };
    };

export interface ContainerPlan {
  readonly pod: Live<Pod>;
  readonly container: RunnableContainer;
  readonly volumes: ReadonlyMap<string, string>;
  readonly restart: 'Always' | 'OnFailure' | 'Never';
  /** How long it may take to end once the signal aborts; asked then. */
  readonly grace: () => Duration;
  readonly onChange: () => void;
}

/**
 * Keeps one container of a Pod running as its restart policy says. Its state is what `containerStatuses` shows;
 * everything it meets on the way (an unknown image, a missing Secret, a crash) is a state with a reason, tried
 * again with a pause that doubles up to 30 s.
 */
export class ContainerWorker {
  readonly container: RunnableContainer;
  readonly #plan: ContainerPlan;
  readonly #context: HostContext;
  #state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  #launched: Launched | undefined;
  #ready = false;
  #starts = 0;
  #failures = 0;

  constructor(plan: ContainerPlan, context: HostContext) {
    this.container = plan.container;
    this.#plan = plan;
    this.#context = context;
  }

  get state(): ContainerState {
    return this.#state;
  }

  get ready(): boolean {
    return this.#ready;
  }

  get restartCount(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** Local port by container port, while it runs. */
  get ports(): ReadonlyMap<number, number> | undefined {
    return this.#launched?.ports;
  }

  /** Says why it is not started yet. */
  hold(message: string): void {
    this.#wait('ContainerCreating', message);
  }

  /** Ends what runs without waiting, also when it is already told to end. */
  kill(): void {
    void this.#launched?.stop(0);
  }

  /** Resolves with the exit code once it is not to be started again, or undefined when it never ran until the abort. */
  async run(signal: AbortSignal): Promise<number | undefined> {
    let exit: Exit | undefined;
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one life after the other
      exit = (await this.#once(signal)) ?? exit;
      if (signal.aborted || (exit && this.#isOver(exit))) break;
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#pause(exit, signal);
    }
    return exit?.code;
  }

  #isOver({ code }: Exit): boolean {
    const { restart } = this.#plan;
    return (
      'terminated' in this.#state &&
      (restart === 'Never' || (restart === 'OnFailure' && code === 0))
    );
  }

  /** One attempt: undefined when it could not even be started. */
  async #once(signal: AbortSignal): Promise<Exit | undefined> {
    const { pod, container, volumes } = this.#plan;
    const program = programFor(this.#context.programs, container.image ?? '');
    if (!program) {
      const reason = this.#failures === 0 ? 'ErrImagePull' : 'ImagePullBackOff';
      this.#wait(reason, `no program stands for the image ${container.image}`);
      return undefined;
    }
    try {
      const launched = await launch(pod, container, program, volumes, this.#context);
      return await this.#live(launched, signal);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const reason =
        error instanceof CannotPrepare ? 'CreateContainerConfigError' : 'RunContainerError';
      this.#wait(reason, error.message);
      return undefined;
    }
  }

  async #live(launched: Launched, signal: AbortSignal): Promise<Exit> {
    const startedAt = this.#context.clock.stamp();
    this.#launched = launched;
    this.#starts++;
    this.#ready = !this.container.readinessProbe;
    this.#become({ running: { startedAt } });
    const over = new AbortController();
    const sick = Promise.withResolvers<void>();
    this.#watch(launched, over.signal, sick.resolve);
    const told = aborted(AbortSignal.any([signal, over.signal]));
    await Promise.race([launched.done, told, sick.promise]);
    const exit = await this.#end(launched, signal);
    over.abort();
    this.#launched = undefined;
    this.#ready = false;
    this.#become({
      terminated: { ...describeEnd(exit), startedAt, finishedAt: this.#context.clock.stamp() },
    });
    return exit;
  }

  /** Ends what still runs: in the Pod's own time when the Pod is told to go, at once when it is sick. */
  async #end(launched: Launched, signal: AbortSignal): Promise<Exit> {
    const pause = signal.aborted ? (this.container.lifecycle?.preStop?.sleep?.seconds ?? 0) : 0;
    const grace = this.#plan.grace();
    const wait = Math.min(seconds(pause), grace);
    if (wait > 0) await Promise.race([launched.done, this.#context.clock.sleep(wait)]);
    return launched.stop(grace - wait);
  }

  #watch(launched: Launched, signal: AbortSignal, onSick: () => void): void {
    const { readinessProbe, livenessProbe } = this.container;
    const target = { container: this.container, ports: launched.ports };
    const how = { clock: this.#context.clock, signal };
    const ignoreEnd = (): void => {}; // the clock rejects when the container ends
    if (readinessProbe) {
      const onSuccess = (): void => this.#setReady(true);
      const onFailure = (): void => this.#setReady(false);
      watchProbe(readinessProbe, target, { onSuccess, onFailure }, how).catch(ignoreEnd);
    }
    if (livenessProbe) {
      const onFailure = (why: string): void => {
        this.#context.log.warn({ container: this.container.name, why }, 'liveness probe failed');
        onSick();
      };
      watchProbe(livenessProbe, target, { onSuccess() {}, onFailure }, how).catch(ignoreEnd);
    }
  }

  #setReady(ready: boolean): void {
    if (this.#ready === ready) return;
    this.#ready = ready;
    this.#plan.onChange();
  }

  /** Between two lives; `CrashLoopBackOff` shows how the last one ended. */
  async #pause(exit: Exit | undefined, signal: AbortSignal): Promise<void> {
    const pause = Math.min(seconds(30), seconds(2 ** this.#failures++));
    if ('terminated' in this.#state) {
      const ended = exit?.message ? `: ${exit.message}` : '';
      this.#wait('CrashLoopBackOff', `exit code ${exit?.code}${ended}`);
    }
    await this.#context.clock.sleep(pause, signal).catch(() => {}); // the caller sees the abort
  }

  #wait(reason: string, message: string): void {
    this.#become({ waiting: { reason, message } });
  }

  #become(state: ContainerState): void {
    this.#state = state;
    this.#plan.onChange();
  }
}

function describeEnd({ code, message }: Exit) {
  const reason = code === 0 ? 'Completed' : 'Error';
  return { exitCode: code, reason, ...(message ? { message: message.slice(-2000) } : {}) };
}
