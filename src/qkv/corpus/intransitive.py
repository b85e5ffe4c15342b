"""Intransitive verbs, which take a place and no object: who does it, and where."""

from qkv.corpus.verb import WHO, Frame, Verb

__all__ = ["INTRANSITIVE"]

PETS = "cat dog rabbit"
SEATS = "on:mat on:chair on:bed on:sofa beside:door beside:window under:tree"
SHADE = "under:tree beside:river in:park in:garden in:field"

INTRANSITIVE = (
    Verb(
        "sit sits sat",
        "앉는다 앉았다 앉을 앉지",
        (
            Frame(WHO, "", SEATS),
            Frame("cat dog", "", f"{SEATS} under:table under:chair beside:sofa"),
            Frame("bird", "", "on:table on:bridge beside:window beside:flower"),
        ),
        "에",
        alone=True,
    ),
    Verb(
        "hide hides hid",
        "숨는다 숨었다 숨을 숨지",
        (
            Frame(
                "child girl boy friend pronouns", "", "under:bed behind:door behind:tree in:room"
            ),
            Frame(PETS, "", "under:bed under:table behind:sofa behind:box behind:tree in:forest"),
        ),
        "에",
        alone=True,
    ),
    Verb(
        "sleep sleeps slept",
        "잔다 잤다 잘 자지",
        (
            Frame(WHO, "", "on:bed on:sofa in:room in:hospital"),
            Frame(PETS, "", "on:mat on:bed under:table beside:sofa in:garden"),
            Frame("bear horse", "", "under:tree in:forest in:field"),
        ),
        alone=True,
    ),
    Verb(
        "live lives lived",
        "산다 살았다 살 살지",
        (
            Frame(WHO, "", "in:house beside:sea beside:lake beside:school in:forest"),
            Frame("bird rabbit bear", "", "in:forest beside:river in:field"),
        ),
        "에",
        state=True,
    ),
    Verb(
        "play plays played",
        "논다 놀았다 놀 놀지",
        (
            Frame("child student friend girl boy we they", "", f"{SHADE} in:school in:room"),
            Frame("cat dog rabbit bear", "", "on:bed in:garden in:field beside:lake in:forest"),
        ),
        alone=True,
    ),
    Verb(
        "run runs ran",
        "달린다 달렸다 달릴 달리지",
        (
            Frame(WHO, "", "in:park in:field beside:river beside:sea in:forest"),
            Frame("dog horse rabbit bear", "", "in:park in:field in:forest beside:river"),
        ),
        alone=True,
    ),
    Verb(
        "walk walks walked",
        "걷는다 걸었다 걸을 걷지",
        (
            Frame(
                WHO, "", "in:park in:garden in:forest in:field beside:river beside:lake on:bridge"
            ),
            Frame("dog cat horse bear", "", "in:garden in:field beside:river on:bridge"),
        ),
        alone=True,
    ),
    Verb(
        "dance dances danced",
        "춤춘다 춤추었다 춤출 춤추지",
        (Frame(WHO, "", "in:park in:garden in:school in:room under:tree"),),
        alone=True,
    ),
    Verb(
        "wait waits waited",
        "기다린다 기다렸다 기다릴 기다리지",
        (Frame(WHO, "", "in:school in:hospital in:library beside:door under:tree on:bridge"),),
        alone=True,
    ),
    Verb(
        "laugh laughs laughed",
        "웃는다 웃었다 웃을 웃지",
        (Frame(WHO, "", "in:park in:school in:room behind:door"),),
        alone=True,
    ),
    Verb(
        "cry cries cried",
        "운다 울었다 울 울지",
        (Frame(WHO, "", "in:room in:hospital behind:house beside:window"),),
        alone=True,
    ),
    Verb(
        "work works worked",
        "일한다 일했다 일할 일하지",
        (Frame(WHO, "", "in:school in:hospital in:library in:market in:field in:garden"),),
        alone=True,
    ),
    Verb(
        "swim swims swam",
        "헤엄친다 헤엄쳤다 헤엄칠 헤엄치지",
        (Frame(f"{WHO} dog bear horse", "", "in:river in:lake in:sea under:bridge"),),
        alone=True,
    ),
    Verb(
        "rest rests rested",
        "쉰다 쉬었다 쉴 쉬지",
        (Frame(f"{WHO} dog horse", "", SHADE),),
        alone=True,
    ),
    Verb(
        "go goes went",
        "간다 갔다 갈 가지",
        (
            Frame(WHO, "", "to:park to:school to:library to:market to:hospital to:sea to:house"),
            Frame("bird rabbit bear", "", "to:forest to:field to:river"),
        ),
        "에",
    ),
    Verb(
        "come comes came",
        "온다 왔다 올 오지",
        (
            Frame(WHO, "", "to:park to:school to:library to:market to:hospital to:house"),
            Frame("cat dog", "", "to:garden to:kitchen to:house"),
        ),
        "에",
    ),
)
