import { runLonger } from './longer.ts'

runLonger('load', {
  description:
    'Clients order at an Apparel21 that takes its time, never answers, or loses answers. Judges that they take nothing from anybody else, that no\ntransaction is held meanwhile, and that all is settled in the end.',
  file: 'test/apparel21/writes/load.test.ts',
  options: {
    LOAD_CLIENTS: ['clients', 'how many order at once', 300],
    LOAD_SECONDS: ['seconds', 'for how long', 30],
  },
})
