/** The first signal asks; a further one no longer waits. Terminals, npm and our own parent may each deliver the first. */
export function askedToStop() {
  let since: number | undefined
  return new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (since === undefined) resolve()
        else if (performance.now() - since > 1_000) process.exit(1)
        since ??= performance.now()
      })
  })
}
