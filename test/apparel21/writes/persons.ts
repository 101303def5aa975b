import assert from 'node:assert/strict'
import { sql } from '../../../src/database/db.ts'
import type { Shop } from '../shop.ts'

/** Returns functions to inspect the persons in the back office, the calls and the consent changes. */
export function createPersonFixture({ api, simulator }: Shop) {
  const findPerson = (id: string) => simulator.state.persons.get(Number(id)) ?? assert.fail(`person ${id} not found`)
  const findByEmail = (email: string) => [...simulator.state.persons.values()].filter(person => person.email === email)
  const listCalls = () => simulator.ledger.calls.map(({ method, path }) => `${method} ${path.split('?')[0]}`)
  const countCreated = () => simulator.ledger.findEffects('person created').length
  const listConsent = (id: string) =>
    api.db.rows<{ channel: string; old: boolean | null; new: boolean }>(sql`
      select channel, old_value as old, new_value as new from consent_change
       where service_id = ${api.service.id} and customer_id = ${id} order by change_number`)

  /** Fills every field of a person in the back office. Returns the person. */
  function fillPerson() {
    const person = [...simulator.state.persons.values()].find(({ email }) => email !== '') ?? assert.fail()
    simulator.change({
      kind: 'edit-person',
      id: person.id,
      fields: {
        title: 'Dr',
        initials: 'JQ',
        sex: 'F',
        dateOfBirth: '1980-02-29',
        jobTitle: 'Botanist',
        isAgent: true,
        home: '0399990000',
        mobile: '0400000000',
        work: '0388880000',
        privacy: false,
        billing: {
          contactName: 'Dr J',
          companyName: 'Ferns & Co',
          line1: '1 Swan St',
          line2: 'Unit 2',
          city: 'RICHMOND',
          state: 'VIC',
          postcode: '3121',
          country: 'AUSTRALIA',
        },
        delivery: {
          contactName: 'Reception',
          companyName: 'Moss Ltd',
          line1: '2 Bay St',
          line2: 'Level 9',
          city: 'PERTH',
          state: 'WA',
          postcode: '6000',
          country: 'AUSTRALIA',
        },
        references: { 1321: 4411, 27: 2702, 1322: 4422 },
      },
    })
    person.customData.set('Web', new Map([['AccountId', ['A-1']]]))
    person.loyalties = [
      {
        id: 900_001,
        typeId: 8561,
        cardNumber: 'LM900001',
        expiry: '',
        balance: '',
        creditStatus: '',
        message: '',
        joinDate: '2024-01-01',
        statusId: '43701',
        active: true,
      },
    ]
    return person
  }

  return { findPerson, findByEmail, listCalls, countCreated, listConsent, fillPerson }
}
