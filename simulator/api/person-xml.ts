import { formatAustralian } from '../shop/clock.ts'
import type { Address, Card, Contacts, Loyalty, Person } from '../shop/records.ts'
import type { Shop } from '../shop/shop.ts'
import { array, type Element, el, fields } from '../xml/element.ts'

export const buildAddressFields = (address: Address): Element[] => [
  ...fields({ ContactName: address.contactName, CompanyName: address.companyName, AddressLine1: address.line1 }),
  ...fields({ AddressLine2: address.line2, City: address.city, State: address.state, Postcode: address.postcode }),
  el('Country', address.country),
]

export const isEmptyAddress = (address: Address) => Object.values(address).every(value => value === '')

export const buildContacts = (name: string, { email, home, mobile, work }: Contacts): Element =>
  el(name, [el('Email', email), el('Phones', fields({ Home: home, Mobile: mobile, Work: work }))])

export const buildCurrency = (code: string): Element =>
  el('Currency', fields({ Code: code, Format: code && `#,##0.00 '${code.charAt(0)}${code.slice(1).toLowerCase()}'` }))

const buildLoyalty = (loyalty: Loyalty, shop: Shop): Element =>
  el('Loyalty', [
    ...fields({ Id: loyalty.id, LoyaltyTypeId: loyalty.typeId }),
    el('LoyaltyType', shop.referenceTypes.get(366)?.references.get(loyalty.typeId)?.name),
    ...fields({ CardNo: loyalty.cardNumber, Expiry: loyalty.expiry, Balance: loyalty.balance }),
    ...fields({ CreditStatus: loyalty.creditStatus, Message: loyalty.message, JoinDate: loyalty.joinDate }),
    el('StatusId', loyalty.statusId),
  ])

const buildCard = ([name, card]: [string, Card]): Element =>
  el(
    'Card',
    [
      array(
        'Fields',
        [...card].map(([field, values]) =>
          values.length > 1
            ? el(
                'Field',
                [
                  array(
                    'ListValues',
                    values.map(value => el('Value', value)),
                  ),
                ],
                { Name: field },
              )
            : el('Field', values[0], { Name: field }),
        ),
      ),
    ],
    { Name: name },
  )

function buildAccount(person: Person, shop: Shop): Element | undefined {
  const account = shop.accountsByPerson.get(person.id)
  const program = account && shop.programs.get(account.programId)
  if (!account || !program) return
  const tier = program.tiers.find(other => other.id === account.tierId)
  return el('Account', [
    ...fields({ Id: account.id, ProgramId: program.id, ProgramName: program.name }),
    ...fields({ TierId: account.tierId, TierName: tier?.name }),
  ])
}

/** Builds a person without the password. The delivery address is left out if it is empty. */
export function buildPerson(person: Person, shop: Shop, { customData }: { customData: boolean }): Element {
  const types = [...shop.referenceTypes.values()].filter(type => type.recordType === 'person')
  const loyalties = person.loyalties.filter(loyalty => loyalty.active)
  return el('Person', [
    ...fields({ Id: person.id, Code: person.code, Title: person.title, Initials: person.initials }),
    ...fields({ Firstname: person.firstname, Surname: person.surname, Sex: person.sex }),
    ...fields({ DateOfBirth: person.dateOfBirth, StartDate: person.startDate, JobTitle: person.jobTitle }),
    ...fields({ Privacy: person.privacy ? 'True' : 'False', UpdateTimeStamp: formatAustralian(person.updated) }),
    array(
      'References',
      types.map(({ id }) => el('Reference', fields({ ReferenceTypeId: id, Id: person.references.get(id) }))),
    ),
    customData ? el('CustomData', [array('Cards', [...person.customData].map(buildCard))]) : undefined,
    el('IsAgent', person.isAgent),
    el('Addresses', [
      el('Billing', buildAddressFields(person.billing)),
      isEmptyAddress(person.delivery) ? undefined : el('Delivery', buildAddressFields(person.delivery)),
    ]),
    buildContacts('Contacts', person),
    buildCurrency(person.currency),
    loyalties.length
      ? array(
          'Loyalties',
          loyalties.map(loyalty => buildLoyalty(loyalty, shop)),
        )
      : undefined,
    el('RewardsAccounts', [buildAccount(person, shop)]),
  ])
}
