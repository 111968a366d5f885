/** How a program is started. */
export interface ProgramStart {
  readonly program: string;
  readonly args: readonly string[];
  /** The working folder, one that the watchdog made. */
  readonly folder: string;
  /** The user to run as; absent: the user of the test process. */
  readonly user?: SystemUser | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Runs in this container: signals go to it, since they do not pass through the Docker client. */
  readonly container?: string | undefined;
}

/** How a server, a program that stays, is started. */
export interface ServerStart extends ProgramStart {
  /** A regular expression. The server is ready when its own output matches, so another server on the port cannot be taken for it. */
  readonly readyPattern: string;
  /** The signal after which this server ends in good order. */
  readonly endSignal: NodeJS.Signals;
}

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** What a test process asks of its watchdog. */
export type WatchdogRequest =
  | { readonly do: "make-folder"; readonly name: string; readonly owner?: SystemUser | undefined }
  | { readonly do: "remove-folder"; readonly folder: string }
  | { readonly do: "run"; readonly start: ProgramStart; readonly limitMs: number }
  | { readonly do: "start"; readonly start: ServerStart; readonly limitMs: number }
  | { readonly do: "signal"; readonly pid: number; readonly signal: NodeJS.Signals }
  | { readonly do: "end"; readonly pid: number; readonly signal: NodeJS.Signals };

export interface NumberedRequest {
  readonly number: number;
  readonly request: WatchdogRequest;
}

/** `value` is the folder made, the output of a program run, or the pid of a server started. */
export type WatchdogAnswer =
  | { readonly number: number; readonly value: string | number | undefined }
  | { readonly number: number; readonly error: string };
