import type { EventNote, EventRecorder } from './events.ts';

/** For tests: keeps every note, and sends none. */
export class RecordingEventRecorder implements EventRecorder {
  readonly notes: EventNote[] = [];

  record(note: EventNote): void {
    this.notes.push(note);
  }

  /** The reasons in order, which is mostly what a story asks for. */
  get reasons(): string[] {
    return this.notes.map(({ reason }) => reason);
  }

  /** Notes about the object with this name. */
  about(name: string): EventNote[] {
    return this.notes.filter(({ object }) => object.metadata?.name === name);
  }

  reset(): void {
    this.notes.length = 0;
  }
}
