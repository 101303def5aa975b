import { runLongTest } from './long-test.ts'

runLongTest('releases', {
  description:
    'Runs the contract of the drivers with each release of the Retail API that changed what the simulator does, from 2015.2 to 2025.1.',
  file: 'test/drivers/drivers.test.ts',
  environment: { CONTRACT_RELEASES: 'all' },
})
