import { type ChildProcess, fork } from 'node:child_process'

/** Milliseconds on a clock that processes and threads share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6

/** A child process that handles one message at a time. */
export interface Child<Input, Result> {
  pid: number
  /** Sends a message and returns the result. Calls `onBegin` when the measurement begins. Throws if the child ends. */
  send(input: Input, onBegin?: () => void): Promise<Result>
  end(): void
}

export function startChild<Input extends object, Result>(file: string): Child<Input, Result> {
  const child: ChildProcess = fork(new URL(file, import.meta.url))
  return {
    pid: child.pid ?? 0,
    send: (input, onBegin = () => {}) =>
      new Promise((resolve, reject) => {
        const failOnExit = () => reject(new Error(`${file} ended.`))
        child.once('exit', failOnExit)
        child.on('message', function listen(message: { hasBegun?: true; result?: Result }) {
          if (message.hasBegun) return onBegin()
          child.off('message', listen).off('exit', failOnExit)
          resolve(message.result as Result)
        })
        child.send(input)
      }),
    end: () => void child.kill(),
  }
}

/** Handles the messages of the parent process. Runs in the child. */
export function handleRequests<Input, Result>(handle: (input: Input, begin: () => void) => Promise<Result>) {
  process.on('message', async (input: Input) => {
    process.send?.({ result: await handle(input, () => process.send?.({ hasBegun: true })) })
  })
  process.once('disconnect', () => process.exit())
}
