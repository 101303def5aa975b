import { runLongTest } from './long-test.ts'

runLongTest('load', {
  description:
    'Clients order while an Apparel21 is slow, hangs or loses responses. Checks that other clients are not slowed down, that no transaction stays open\nduring a call, and that all orders end with a final outcome.',
  file: 'test/apparel21/writes/load.test.ts',
  options: {
    LOAD_CLIENTS: ['clients', 'number of clients that order', 300],
    LOAD_SECONDS: ['seconds', 'duration', 30],
  },
})
