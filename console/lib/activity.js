/** A person can read for this long without touching anything. */
const maxIdleMs = 5 * 60_000

let lastActiveAt = Date.now()
for (const event of ['pointermove', 'pointerdown', 'keydown', 'focus'])
  addEventListener(event, () => {
    lastActiveAt = Date.now()
  })

/** True if a person uses the page now. Polling must stop otherwise, because each request extends the session. */
export const isUserActive = () => !document.hidden && Date.now() - lastActiveAt < maxIdleMs
