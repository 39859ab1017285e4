/**
 * Remembers what was found out about a property's name: clients send the same few again and again. Bounded in
 * names and in their length, so that no client can fill the memory with names it makes up.
 */
export function nameFacts<Fact>(find: (name: string) => Fact): (name: string) => Fact {
  const facts = new Map<string, Fact>()
  return (name) => {
    const known = facts.get(name)
    if (known !== undefined) return known
    const fact = find(name)
    if (name.length > charactersMax) return fact
    if (facts.size === namesMax) facts.clear()
    facts.set(name, fact)
    return fact
  }
}

const namesMax = 1024
const charactersMax = 64
