import { type ChildProcess, fork } from 'node:child_process'

/** Milliseconds on a clock that processes and threads share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6

/** A child process that handles one request at a time. */
export interface Child<Question, Answer> {
  pid: number
  /** Calls `begun` when the measurement begins. */
  send(question: Question, begun?: () => void): Promise<Answer>
  end(): void
}

export function startChild<Question extends object, Answer>(file: string): Child<Question, Answer> {
  const child: ChildProcess = fork(new URL(file, import.meta.url))
  return {
    pid: child.pid ?? 0,
    send: (question, begun = () => {}) =>
      new Promise((resolve, reject) => {
        const ended = () => reject(new Error(`${file} has ended.`))
        child.once('exit', ended)
        child.on('message', function listen(message: { begun?: true; answer?: Answer }) {
          if (message.begun) return begun()
          child.off('message', listen).off('exit', ended)
          resolve(message.answer as Answer)
        })
        child.send(question)
      }),
    end: () => void child.kill(),
  }
}

/** Handles requests of the parent. Runs in the child. */
export function answerRequests<Question, Answer>(response: (question: Question, begin: () => void) => Promise<Answer>) {
  process.on('message', async (question: Question) => {
    process.send?.({ answer: await response(question, () => process.send?.({ begun: true })) })
  })
  process.once('disconnect', () => process.exit())
}
